// Joins a table of descriptors to a list of candidates: what is known of each ligand, solvent or other level becomes
// columns of every candidate that has it. The server reads the joined list like any other.

import { isWorkbook, type Preview, preview } from "./csv.ts";
import { xlsxPreview } from "./xlsx.ts";

const ALL = Number.POSITIVE_INFINITY;

export async function wholeTable(file: File): Promise<Preview> {
  const table = isWorkbook(file) ? await xlsxPreview(file, ALL) : preview(await file.text(), ALL);
  if (!table) throw new Error(`${file.name} could not be read. Save it as CSV and try again.`);
  return table;
}

export interface Joined {
  file: File;
  column: string; // whose levels are described
  added: string[];
}

export async function joinDescriptors(candidates: File, descriptors: File): Promise<Joined> {
  const [list, table] = await Promise.all([wholeTable(candidates), wholeTable(descriptors)]);
  const column = describedColumn(list, table);
  const place = list.header.indexOf(column);
  const [, ...added] = table.header;
  refuseTaken(list, added);
  const levels = levelsOf(table, column);
  refuseMissing(list, place, levels);
  const rows = list.rows.map((row) => {
    const known = levels.get(row[place] ?? "") ?? [];
    return [
      ...list.header.map((_, position) => row[position] ?? ""),
      ...added.map((_, position) => known[position] ?? ""),
    ];
  });
  const text = written([[...list.header, ...added], ...rows], list.delimiter);
  const name = candidates.name.replace(/\.[^.]*$/, ".csv");
  return { file: new File([text], name, { type: "text/csv" }), column, added };
}

// The first column of the table has the name of a column of the list.
function describedColumn(list: Preview, table: Preview): string {
  const [first = "", ...others] = table.header;
  const column = list.header.find((name) => name.toLowerCase() === first.toLowerCase());
  if (column === undefined)
    throw new Error(
      `The first column is called ${first || "nothing"}. Give it the name of the column that it describes.`,
    );
  if (!others.length) throw new Error(`There are no descriptors beside the levels of ${column}.`);
  return column;
}

function refuseTaken({ header }: Preview, added: string[]): void {
  const taken = added.filter((name) => header.includes(name));
  if (taken.length) throw new Error(`The candidates have ${inWords(taken)}, too. Rename one of them.`);
}

function levelsOf({ rows }: Preview, column: string): Map<string, string[]> {
  const levels = new Map<string, string[]>();
  for (const [level = "", ...values] of rows) {
    if (levels.has(level)) throw new Error(`${level} is there twice in the descriptors of ${column}. Keep one row.`);
    levels.set(level, values);
  }
  return levels;
}

function refuseMissing({ rows }: Preview, place: number, levels: Map<string, string[]>): void {
  const missing = [...new Set(rows.map((row) => row[place] ?? ""))].filter((level) => !levels.has(level));
  if (missing.length)
    throw new Error(
      `There are no descriptors of ${inWords(missing.map((level) => level || "empty cells"))}. Add a row for each, or correct the spelling.`,
    );
}

const MOST = 5;
const inWords = (names: string[]): string =>
  names.length > MOST ? `${names.slice(0, MOST).join(", ")} and ${names.length - MOST} more` : names.join(", ");

// As the file had it: nothing is guarded against spreadsheets, since only the server reads it.
const written = (rows: string[][], delimiter: string): string =>
  rows.map((row) => row.map((cell) => quoted(cell, delimiter)).join(delimiter)).join("\n");

const quoted = (cell: string, delimiter: string): string =>
  cell.includes(delimiter) || /["\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
