// Which columns the table shows. Nothing is hidden unless somebody hides it, and how many are hidden is always said.

import { useRef, useState } from "preact/hooks";
import { useClosing } from "../../core/hooks.ts";
import type { Column } from "../../core/types.ts";
import { Icon } from "../../parts/icon.tsx";

interface ChooserProps {
  columns: Column[];
  hidden: string[];
  onChange: (hidden: string[]) => void;
  title?: (shown: number) => string; // of the button, where columns are not shown unless somebody wants them
}

export function ColumnChooser({ columns, hidden, onChange, title }: ChooserProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const own = columns.filter((column) => column.role !== "key");
  const away = own.filter((column) => hidden.includes(column.name)).length;
  useClosing(open, box, () => setOpen(false));
  const turn = (name: string, shown: boolean) =>
    onChange(shown ? hidden.filter((other) => other !== name) : [...hidden, name]);
  return (
    <div class="popup-holder" ref={box}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="columns" size={16} />
        {title?.(own.length - away) ?? (away ? `Columns: ${away} of ${own.length} hidden` : "Columns")}
      </button>
      {open && (
        <fieldset class="popup card">
          <legend class="visually-hidden">Columns to show</legend>
          <div class="row">
            <button type="button" class="small" onClick={() => onChange([])}>
              Show all
            </button>
            <button type="button" class="small" onClick={() => onChange(own.map((column) => column.name))}>
              Hide all
            </button>
          </div>
          {own.map(({ name, role }) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={!hidden.includes(name)}
                onChange={(event) => turn(name, event.currentTarget.checked)}
              />
              {name}
              {role === "attribute" && <span class="quiet small">only shown</span>}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
