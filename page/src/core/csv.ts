// Enough of CSV to show the first rows of a file, and to save what a table shows. What counts is how the server reads it.

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
export const isWorkbook = (file: File): boolean => /\.xlsx$/i.test(file.name);
export const typeOf = (file: File): string => (isWorkbook(file) ? XLSX : "text/csv");

export interface Preview {
  header: string[];
  rows: string[][];
  delimiter: string;
}

export function preview(text: string, limit = 40): Preview {
  const delimiter = delimiterOf(text);
  const rows: string[][] = [];
  let cells: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(cellPattern(delimiter))) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === delimiter) continue;
    rows.push(cells);
    cells = [];
    if (rows.length > limit) break;
  }
  const trimmed = rows.map((row) => row.map((cell) => cell.replace(/^\ufeff/, "").trim()));
  const [header = [], ...body] = trimmed.filter((row) => row.some(Boolean));
  return { header, rows: body, delimiter };
}

function delimiterOf(text: string): string {
  const columns = (delimiter: string) => (text.split("\n", 1)[0] ?? "").split(delimiter).length;
  return [",", ";", "\t"].reduce((best, delimiter) => (columns(delimiter) > columns(best) ? delimiter : best));
}

// A cell, quoted (it may then hold delimiters, line breaks and doubled quotes) or plain, and what ends it.
const cellPattern = (delimiter: string) =>
  new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\n]*))(${delimiter}|\r?\n|$)`, "g");

export type Writable = string | number | boolean | null | undefined;

export function csvText(header: string[], rows: Writable[][]): string {
  return [header, ...rows]
    .map((row) => row.map(written).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function written(value: Writable): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : value; // a spreadsheet must not run a text as a formula
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const saveText = (name: string, text: string, type = "text/csv;charset=utf-8"): void =>
  saveFile(name, new Blob([text], { type }));

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(content);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
