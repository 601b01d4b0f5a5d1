// Enough of CSV to show the first rows of a file. What counts is how the server reads it.

export function preview(text, limit = 8) {
  const delimiter = delimiterOf(text);
  const rows = [];
  let cells = [];
  for (const [, quoted, plain, end] of text.matchAll(cellPattern(delimiter))) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === delimiter) continue;
    rows.push(cells);
    cells = [];
    if (rows.length > limit) break;
  }
  const trimmed = rows.map((row) => row.map((cell) => cell.replace(/^\ufeff/, "").trim()));
  const [header = [], ...body] = trimmed.filter((row) => row.some(Boolean));
  return { header, rows: body };
}

function delimiterOf(text) {
  const columns = (delimiter) => text.split("\n", 1)[0].split(delimiter).length;
  return [",", ";", "\t"].reduce((best, delimiter) => (columns(delimiter) > columns(best) ? delimiter : best));
}

// A cell, quoted (it may then hold delimiters, line breaks and doubled quotes) or plain, and what ends it.
const cellPattern = (delimiter) => new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\n]*))(${delimiter}|\r?\n|$)`, "g");
