// More than one quantity: further objectives, and what must be good enough.

import type { Settings } from "../../core/types.ts";
import { Icon } from "../../parts/icon.tsx";

export type Aim = "maximize" | "minimize" | "target" | "at_least" | "at_most";

export interface Further {
  id: number;
  source: string | null; // the column with its past results
  name: string;
  unit: string;
  aim: Aim;
  number: string; // the target, or the limit of a constraint
}

const AIMS: [Aim, string][] = [
  ["maximize", "larger is better"],
  ["minimize", "smaller is better"],
  ["target", "near a target is better"],
  ["at_least", "must be at least"],
  ["at_most", "must be at most"],
];
const wantsNumber = (aim: Aim) => aim !== "maximize" && aim !== "minimize";
const MOST = 14; // five objectives, of which one is the first, and ten constraints

interface FurtherProps {
  list: Further[];
  onChange: (list: Further[]) => void;
}

export function FurtherQuantities({ list, onChange }: FurtherProps) {
  const put = (id: number, part: Partial<Further>) =>
    onChange(list.map((quantity) => (quantity.id === id ? { ...quantity, ...part } : quantity)));
  const add = () => onChange([...list, furtherOf(list, null, "", "")]);
  return (
    <div class="further">
      {list.map((quantity, position) => (
        <fieldset key={quantity.id} class="row further-row">
          <legend class="visually-hidden">{`Quantity ${position + 2}`}</legend>
          <label class="field">
            {`Quantity ${position + 2}`}
            <input
              value={quantity.name}
              required
              maxLength={100}
              placeholder="purity"
              autocomplete="off"
              onInput={(event) => put(quantity.id, { name: event.currentTarget.value })}
            />
          </label>
          <label class="field small-field">
            {`Unit of quantity ${position + 2}`}
            <input
              value={quantity.unit}
              placeholder="%"
              autocomplete="off"
              onInput={(event) => put(quantity.id, { unit: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            What is wanted
            <select
              value={quantity.aim}
              onChange={(event) => put(quantity.id, { aim: event.currentTarget.value as Aim })}
            >
              {AIMS.map(([aim, words]) => (
                <option value={aim} key={aim}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          {wantsNumber(quantity.aim) && (
            <label class="field small-field">
              {quantity.aim === "target" ? "Target" : "Limit"}
              <input
                type="number"
                step="any"
                required
                value={quantity.number}
                onInput={(event) => put(quantity.id, { number: event.currentTarget.value })}
              />
            </label>
          )}
          <button
            type="button"
            class="plain icon"
            aria-label={`Remove quantity ${position + 2}`}
            onClick={() => onChange(list.filter((other) => other !== quantity))}
          >
            <Icon name="close" size={16} />
          </button>
        </fieldset>
      ))}
      {list.length < MOST && (
        <button type="button" class="small" onClick={add}>
          <Icon name="plus" size={16} />
          Measure another quantity
        </button>
      )}
    </div>
  );
}

const unitIn = (column: string) => /[([]([^()[\]]{1,12})[)\]]\s*$/.exec(column)?.[1] ?? "";
const bare = (column: string) => column.replace(/\s*[([][^()[\]]{1,12}[)\]]\s*$/, "");

function furtherOf(list: Further[], source: string | null, name: string, unit: string): Further {
  const id = Math.max(0, ...list.map((quantity) => quantity.id)) + 1;
  return { id, source, name, unit, aim: "maximize", number: "" };
}

// Those typed by hand stay; those of a column with past results follow the roles of the columns.
export function followColumns(list: Further[], columns: string[]): Further[] {
  const followed = list.filter(({ source }) => source === null || columns.includes(source));
  for (const column of columns)
    if (!followed.some(({ source }) => source === column))
      followed.push(furtherOf(followed, column, bare(column), unitIn(column)));
  return followed;
}

type Objective = NonNullable<Settings["objectives"]>[number];
type Main = { name: string; unit: string; direction: "maximize" | "minimize" | "target" } & Pick<
  Objective,
  "target" | "limits"
>;

// The quantities as the server takes them: the short form for one objective, else the whole list.
export function quantitiesOf(main: Main, list: Further[]): object {
  const isObjective = ({ aim }: Further) => aim === "maximize" || aim === "minimize" || aim === "target";
  const objectives = list.filter(isObjective).map(({ name, unit, aim, number }) => ({
    name: name.trim(),
    unit: unit.trim(),
    direction: aim,
    ...(aim === "target" ? { target: Number(number) } : {}),
  }));
  const constraints = list
    .filter((quantity) => !isObjective(quantity))
    .map(({ name, unit, aim, number }) => ({ name: name.trim(), unit: unit.trim(), [aim]: Number(number) }));
  const { name, ...first } = main;
  const aims = objectives.length ? { objectives: [main, ...objectives] } : { objective: name, ...first };
  return constraints.length ? { ...aims, constraints } : aims;
}
