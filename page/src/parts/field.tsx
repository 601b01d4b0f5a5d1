// Fields of a form, choices between a few words, and a place to drop a file.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

export interface FieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  kind?: "text" | "number" | "area" | "password" | "date";
  value?: string | number | null;
  options?: [string, string][];
  required?: boolean;
  pattern?: string;
  placeholder?: string;
  min?: number;
  step?: string;
  maxlength?: number;
  inputmode?: "decimal" | "numeric";
  wide?: boolean;
  heading?: string; // above it: what it and the following fields are about
  onInput?: (value: string) => void;
}

export function Field({ label, hint, wide, heading: _, ...control }: FieldProps) {
  return (
    <label class={wide ? "field wide" : "field"}>
      {label}
      <Control {...control} />
      {hint && <span class="hint">{hint}</span>}
    </label>
  );
}

function Control({
  kind = "text",
  value,
  options,
  onInput,
  ...more
}: Omit<FieldProps, "label" | "hint" | "wide" | "heading">) {
  const start = value ?? "";
  const listen = onInput && ((event: Event) => onInput((event.target as HTMLInputElement).value));
  const typed = (event: Event) => {
    (event.target as HTMLInputElement).setCustomValidity("");
    listen?.(event);
  };
  if (options)
    return (
      <select name={more.name} onChange={listen}>
        {options.map(([key, text]) => (
          <option value={key} key={key} selected={key === String(start)}>
            {text}
          </option>
        ))}
      </select>
    );
  if (kind === "area")
    return <textarea name={more.name} rows={3} defaultValue={String(start)} maxLength={more.maxlength} />;
  const { maxlength, inputmode, ...rest } = more;
  return (
    <input
      {...rest}
      type={kind as "text"}
      maxLength={maxlength}
      inputMode={inputmode}
      defaultValue={String(start)}
      autocomplete="off"
      onInvalid={explainName}
      onInput={typed}
    />
  );
}

// Every pattern here is that of a name; the browser itself would only say that it does not match.
function explainName({ target }: Event): void {
  const input = target as HTMLInputElement;
  if (input.validity.patternMismatch)
    input.setCustomValidity("Use letters, digits, dots, dashes and underscores, and no spaces.");
}

interface ChoicesProps<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onChange: (value: T) => void;
  disabled?: Partial<Record<T, string>>; // what cannot be chosen now, and why
}

export function Choices<T extends string>({ label, options, value, onChange, disabled = {} }: ChoicesProps<T>) {
  const why = Object.values(disabled).find(Boolean) as string | undefined;
  return (
    <>
      <div class="choices" role="radiogroup" aria-label={label}>
        {options.map(([key, text]) => (
          <label key={key} class={disabled[key] ? "off" : ""} title={disabled[key]}>
            <input
              type="radio"
              name={label}
              value={key}
              checked={key === value}
              disabled={Boolean(disabled[key])}
              onChange={() => onChange(key)}
            />
            {text}
          </label>
        ))}
      </div>
      {why && <span class="quiet small">{why}</span>}
    </>
  );
}

interface SelectProps {
  label: string;
  options: (readonly [string, string])[];
  value: string;
  onChange: (value: string) => void;
  hideLabel?: boolean;
}

export function Select({ label, options, value, onChange, hideLabel = false }: SelectProps) {
  return (
    <label class="inline">
      {!hideLabel && <span>{label}</span>}
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option value={key} key={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

// It shrinks once there is a file; another file can still be dropped on it.
interface DropzoneProps {
  title: string;
  hint: string;
  accept?: string;
  onFile: (file: File) => void;
}

export function Dropzone({ title, hint, accept = ".csv,.xlsx,.tsv,text/csv,text/plain", onFile }: DropzoneProps) {
  const [over, setOver] = useState(false);
  const onDrag = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <label
      class={over ? "drop over" : "drop"}
      onDragEnter={onDrag}
      onDragOver={onDrag}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) onFile(file);
      }}
    >
      <Icon name="file" size={36} />
      <b>{title}</b>
      <span class="quiet small">{hint}</span>
      <input
        class="visually-hidden"
        type="file"
        accept={accept}
        aria-label={title}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) onFile(file);
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}
