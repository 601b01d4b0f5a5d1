// Conditions on columns, built from what each column holds. The server's own notation is accepted, too: temperature>=80.

import { useState } from "preact/hooks";
import { setSearch } from "../../core/address.ts";
import { parse } from "../../core/format.ts";
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
  const add = (condition: string) => {
    put([...where, condition]);
    setOpen(false);
  };
  return (
    <>
      <Written columns={own} onAdd={add} short />
      <button type="button" onClick={() => setOpen(true)}>
        Filter …
      </button>
      <ConditionChips where={where} onChange={put} />
      {open && (
        <Modal label="Add a filter" onClose={() => setOpen(false)}>
          <div class="stack">
            <h2>Add a filter</h2>
            <Built columns={own} onAdd={add} />
            <div class="row end">
              <button type="button" onClick={() => setOpen(false)}>
                Cancel
              </button>
            </div>
          </div>
        </Modal>
      )}
    </>
  );
}

interface ChipsProps {
  where: string[];
  onChange: (where: string[]) => void;
}

export function ConditionChips({ where, onChange }: ChipsProps) {
  return (
    <>
      {where.map((condition) => (
        <button
          type="button"
          class="chip"
          aria-label={`Remove the filter ${condition}`}
          key={condition}
          onClick={() => onChange(where.filter((other) => other !== condition))}
        >
          {`${condition} ×`}
        </button>
      ))}
    </>
  );
}

interface BuilderProps {
  columns: Column[];
  onAdd: (condition: string) => void;
}

// A condition put together from a column and what it holds, or written down.
export function ConditionBuilder({ columns, onAdd }: BuilderProps) {
  const own = columns.filter((column) => column.role !== "key");
  if (!own.length) return null;
  return (
    <>
      <Built columns={own} onAdd={onAdd} />
      <Written columns={own} onAdd={onAdd} />
    </>
  );
}

function Written({ columns, onAdd, short = false }: BuilderProps & { short?: boolean }) {
  return (
    <input
      class={short ? "search short" : ""}
      placeholder={short ? exampleOf(columns) : `Or write it: ${exampleOf(columns)}`}
      aria-label={short ? "Add a filter, such as column>=number" : "Write a condition"}
      onKeyDown={(event) => {
        const text = event.currentTarget.value.trim();
        if (event.key !== "Enter") return;
        event.preventDefault();
        if (!text) return;
        event.currentTarget.value = "";
        onAdd(text);
      }}
    />
  );
}

// The shortest condition that the columns allow: an example must fit into its field.
function exampleOf(columns: Column[]): string {
  const examples = columns
    .filter(({ role, kind, levels }) => role === "feature" && (kind !== "text" || levels.length))
    .map(
      ({ name, kind, levels }) => `${name}${kind === "number" ? ">=80" : `=${kind === "text" ? levels[0] : "true"}`}`,
    );
  return examples.sort((a, b) => a.length - b.length)[0] ?? "column=value";
}

const SIGNS: [string, string][] = [
  [">=", "at least"],
  ["<=", "at most"],
  ["=", "exactly"],
  [">", "more than"],
  ["<", "less than"],
];

const quoted = (value: string) => (value.includes('"') ? `'${value}'` : `"${value}"`);
const listed = (value: string) => (/[,()"']/.test(value) ? quoted(value) : value);

function Built({ columns, onAdd }: BuilderProps) {
  const [name, setName] = useState(columns[0]?.name ?? "");
  const [sign, setSign] = useState(">=");
  const [value, setValue] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const column = columns.find((other) => other.name === name);
  const levels = column ? levelsOf(column) : [];
  const choose = (next: string) => {
    setName(next);
    setValue("");
    setChosen([]);
  };
  const isNumber = column?.kind === "number";
  const condition = conditionOf(name, isNumber ? sign : "=", isNumber ? plain(value) : value.trim(), chosen);
  const add = () => {
    if (!condition) return;
    choose(name);
    onAdd(condition);
  };
  return (
    <div class="condition">
      <div class="row adding">
        <select aria-label="Column" value={name} onChange={(event) => choose(event.currentTarget.value)}>
          {columns.map((other) => (
            <option key={other.name}>{other.name}</option>
          ))}
        </select>
        {isNumber && (
          <select aria-label="Is" value={sign} onChange={(event) => setSign(event.currentTarget.value)}>
            {SIGNS.map(([key, words]) => (
              <option value={key} key={key}>
                {words}
              </option>
            ))}
          </select>
        )}
        {!levels.length && (
          <input
            aria-label={isNumber ? "Limit" : "Value"}
            inputMode={isNumber ? "decimal" : "text"}
            placeholder={isNumber ? "number" : "value"}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        )}
        <button type="button" disabled={!condition} onClick={add}>
          Add condition
        </button>
      </div>
      {levels.length > 0 && <Levels levels={levels} chosen={chosen} onChange={setChosen} />}
    </div>
  );
}

// A number as the server reads it, or nothing.
const plain = (text: string) => String(parse(text) ?? "");
const levelsOf = (column: Column) => (column.kind === "boolean" ? ["true", "false"] : column.levels);

function conditionOf(name: string, sign: string, value: string, chosen: string[]): string | null {
  if (chosen.length > 1) return `${name} in (${chosen.map(listed).join(", ")})`;
  const [only = value] = chosen;
  return only ? `${name}${sign}${only}` : null;
}

interface LevelsProps {
  levels: string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

const MANY = 12;

function Levels({ levels, chosen, onChange }: LevelsProps) {
  const [find, setFind] = useState("");
  const shown = levels.filter((level) => level.toLowerCase().includes(find.toLowerCase()));
  return (
    <fieldset class="levels">
      <legend class="visually-hidden">Is one of</legend>
      {levels.length > MANY && (
        <input
          type="search"
          placeholder={`Find one of ${levels.length} values`}
          aria-label="Find a value"
          onInput={(event) => setFind(event.currentTarget.value)}
        />
      )}
      <div class="level-list">
        {shown.map((level) => (
          <label class="check" key={level}>
            <input
              type="checkbox"
              checked={chosen.includes(level)}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? [...chosen, level] : chosen.filter((other) => other !== level))
              }
            />
            {level}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
