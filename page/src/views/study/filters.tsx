// Conditions on columns, built from what each column holds. The server's own notation is accepted, too: temperature>=80.

import { useState } from "preact/hooks";
import { setSearch } from "../../core/address.ts";
import type { Column } from "../../core/types.ts";
import { Modal } from "../../parts/dialog.tsx";

interface FilterProps {
  columns: Column[];
  where: string[];
}

const put = (where: string[]) => setSearch({ where: where.length ? where : null });

export function FilterBuilder({ columns, where }: FilterProps) {
  const [open, setOpen] = useState(false);
  const own = columns.filter((column) => column.role !== "key");
  if (!own.length) return null;
  return (
    <>
      <input
        class="search short"
        placeholder={exampleOf(own)}
        aria-label="Add a filter, such as column>=number"
        onKeyDown={(event) => {
          const text = event.currentTarget.value.trim();
          if (event.key !== "Enter" || !text) return;
          event.currentTarget.value = "";
          put([...where, text]);
        }}
      />
      <button type="button" onClick={() => setOpen(true)}>
        Filter …
      </button>
      {where.map((condition) => (
        <button
          type="button"
          class="chip"
          aria-label={`Remove the filter ${condition}`}
          key={condition}
          onClick={() => put(where.filter((other) => other !== condition))}
        >
          {`${condition} ×`}
        </button>
      ))}
      {open && <FilterDialog columns={own} where={where} onClose={() => setOpen(false)} />}
    </>
  );
}

function exampleOf(columns: Column[]): string {
  const column = columns.find(({ kind }) => kind === "number") ?? columns[0];
  if (!column) return "Filter: column=value";
  return `Filter: ${column.name}${column.kind === "number" ? ">=1" : `=${column.levels[0] ?? "…"}`}`;
}

const SIGNS: [string, string][] = [
  [">=", "at least"],
  ["<=", "at most"],
  ["=", "exactly"],
  [">", "more than"],
  ["<", "less than"],
];

function FilterDialog({ columns, where, onClose }: FilterProps & { onClose: () => void }) {
  const [name, setName] = useState(columns[0]?.name ?? "");
  const column = columns.find((other) => other.name === name);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const values = new FormData(event.target as HTMLFormElement);
    put([...where, `${name}${values.get("sign") ?? "="}${values.get("value")}`]);
    onClose();
  };
  return (
    <Modal label="Add a filter" onClose={onClose}>
      <form onSubmit={submit}>
        <h2>Add a filter</h2>
        <label class="field">
          Column
          <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {columns.map((other) => (
              <option key={other.name}>{other.name}</option>
            ))}
          </select>
        </label>
        {column && <Condition column={column} key={column.name} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Add
          </button>
        </div>
      </form>
    </Modal>
  );
}

function Condition({ column }: { column: Column }) {
  if (column.kind === "number")
    return (
      <div class="fields">
        <label class="field">
          Is
          <select name="sign">
            {SIGNS.map(([sign, words]) => (
              <option value={sign} key={sign}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Number
          <input name="value" type="number" step="any" required />
        </label>
      </div>
    );
  const levels = column.kind === "boolean" ? ["true", "false"] : column.levels;
  if (!levels.length)
    return (
      <label class="field">
        Is
        <input name="value" required />
      </label>
    );
  return (
    <label class="field">
      Is
      <select name="value">
        {levels.map((level) => (
          <option key={level}>{level}</option>
        ))}
      </select>
    </label>
  );
}
