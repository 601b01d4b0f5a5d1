// What each column of the file is, with good guesses: the key, a feature, a molecule, only shown, a cost, past results.

import type { Preview } from "../../core/csv.ts";
import { parse } from "../../core/format.ts";

export type Role = "feature" | "attribute" | "key" | "result" | "smiles" | "cost" | "duration";
export type RolesOf = Map<string, Role>;

const ROLES: [Role, string][] = [
  ["feature", "feature"],
  ["attribute", "shown only"],
  ["key", "key"],
  ["result", "past results"],
  ["smiles", "molecule (SMILES)"],
  ["cost", "cost"],
  ["duration", "duration"],
];
// Words that name a result wherever they stand in a column's name, and words that do so only at its beginning: an ionic
// strength or a pH value is a setting.
const RESULTS = new Set(
  "yield yields purity conversion selectivity enantioselectivity ee hardness toughness titer titre potency ic50 ec50 outcome response objective ausbeute umsatz reinheit".split(
    " ",
  ),
);
const RESULTS_FIRST = new Set("result results value activity strength measured measure measurement score".split(" "));
const SMILES = /(^|[^a-z])smiles\b/i;
const COST = /^(cost|costs|price)\b/i;
const SHOWN = /^(inchi|note|notes|comment|comments|remark|remarks|description|cas|supplier|link|url)\b/i;
// From the surest name of a key to the least sure.
const KEYS = [
  /^key$/i,
  /^id$|[^a-z]id$/i,
  /^(sample|entry|experiment|exp|reaction|run|compound|candidate|well|name|label)\.?$/i,
  /^(sample|entry|experiment|exp|reaction|run|compound|candidate)[ _.-]*(no|nr|number|name|code|#)\.?$/i,
  /^(no|nr|number|#)\.?$/i,
];

// "isolated yield", "yield_pct" and "ProductYield" have the word "yield"; "yielding" has not.
const wordsIn = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

function namesResult(name: string): boolean {
  const words = wordsIn(name);
  return RESULTS_FIRST.has(words[0] ?? "") || words.some((word) => RESULTS.has(word));
}

const cellsOf = (table: Preview, position: number) => table.rows.map((row) => row[position] ?? "");

// A column without any number in the rows that were looked at may still hold results: they are yet to come.
const areNumbers = (table: Preview, position: number) =>
  cellsOf(table, position)
    .filter(Boolean)
    .every((cell) => parse(cell) !== null);

const hasNumbers = (table: Preview, position: number) =>
  areNumbers(table, position) && cellsOf(table, position).some(Boolean);

function tellsApart(table: Preview, position: number): boolean {
  const cells = cellsOf(table, position);
  return cells.every(Boolean) && new Set(cells).size === cells.length;
}

function guessKey(table: Preview): string | undefined {
  const [exact] = table.header.filter((name) => name.toLowerCase() === "key");
  if (exact !== undefined) return exact; // the server takes it as the key, too
  const possible = table.header.filter((_, position) => tellsApart(table, position));
  for (const pattern of KEYS) {
    const found = possible.find((name) => pattern.test(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

// A column with a name like "yield" holds past results, never a feature: what is not known beforehand cannot be one.
export function guessRoles(table: Preview): RolesOf {
  const key = guessKey(table);
  let hasResult = false;
  let hasCost = false;
  return new Map(
    table.header.map((name, position): [string, Role] => {
      if (name === key) return [name, "key"];
      if (namesResult(name)) {
        // A second one, or one with words in it, is shown until somebody says more.
        if (hasResult || !areNumbers(table, position)) return [name, "attribute"];
        hasResult = true;
        return [name, "result"];
      }
      if (SMILES.test(name)) return [name, "smiles"];
      if (!hasCost && COST.test(name) && hasNumbers(table, position)) {
        hasCost = true;
        return [name, "cost"];
      }
      return [name, SHOWN.test(name) ? "attribute" : "feature"];
    }),
  );
}

interface RolesProps {
  table: Preview;
  roles: RolesOf;
  onAssign: (column: string, role: Role) => void;
}

const SHOWN_ROWS = 8;

export function RolesTable({ table, roles, onAssign }: RolesProps) {
  return (
    <div class="preview">
      <div class="scroll" tabIndex={0} role="region" aria-label="The first rows of the file">
        <table class="plain roles">
          <thead>
            <tr>
              {table.header.map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
            <tr>
              {table.header.map((name) => (
                <td key={name}>
                  <select
                    aria-label={`Role of ${name}`}
                    value={roles.get(name)}
                    onChange={(event) => onAssign(name, event.currentTarget.value as Role)}
                  >
                    {ROLES.map(([role, text]) => (
                      <option value={role} key={role}>
                        {text}
                      </option>
                    ))}
                  </select>
                </td>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, SHOWN_ROWS).map((row, number) => (
              // Rows of a file have no other identity.
              <tr key={number}>
                {table.header.map((name, position) => (
                  <td class={`number ${roles.get(name)}`} key={name}>
                    {row[position] ?? ""}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
