// What each column of the file is, with good guesses: the key, a feature, a column that is only shown, or past results.

import type { Preview } from "../../core/csv.ts";
import { parse } from "../../core/format.ts";

export type Role = "feature" | "attribute" | "key" | "result";
export type RolesOf = Map<string, Role>;

const ROLES: [Role, string][] = [
  ["feature", "feature"],
  ["attribute", "shown only"],
  ["key", "key"],
  ["result", "past results"],
];
const RESULT = /^(yield|result|value|objective|conversion|selectivity|activity|ee|hardness|strength|measured?)\b/i;
const SHOWN = /^(smiles|inchi|note|notes|comment|comments|remark|remarks|description|cas|supplier|link|url)\b/i;

// A column with numbers in only some rows and a name like "yield" holds past results, never a feature.
function looksLikeResults(table: Preview, position: number, name: string): boolean {
  const cells = table.rows.map((row) => row[position] ?? "").filter(Boolean);
  const numbers = cells.filter((cell) => parse(cell) !== null).length;
  return RESULT.test(name) && cells.length > 0 && numbers === cells.length;
}

export function guessRoles(table: Preview): RolesOf {
  const key =
    table.header.find((name) => name.toLowerCase() === "key") ??
    table.header.find((name) => /^(id|name|sample|label)$/i.test(name));
  let hasResult = false;
  return new Map(
    table.header.map((name, position): [string, Role] => {
      if (name === key) return [name, "key"];
      if (!hasResult && key !== undefined && looksLikeResults(table, position, name)) {
        hasResult = true;
        return [name, "result"];
      }
      const leaks = key !== undefined && looksLikeResults(table, position, name); // a second one is shown until you say more
      return [name, leaks || SHOWN.test(name) ? "attribute" : "feature"];
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
