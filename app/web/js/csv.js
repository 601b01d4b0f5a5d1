// Enough of CSV to show the first rows of a file. What counts is the server's own reading of it.

export function preview(text, most = 8) {
  const head = text.split("\n", 1)[0];
  const delimiter = [",", ";", "\t"].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best));
  const rows = [];
  let cells = [], cell = "", quoted = false;
  for (let i = 0; i < text.length && rows.length <= most; i += 1) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[i + 1] === '"') { cell += '"'; i += 1; } else quoted = false;
    } else if (char === '"' && cell === "") quoted = true;
    else if (char === delimiter) { cells.push(cell); cell = ""; }
    else if (char === "\n") { rows.push([...cells, cell.replace(/\r$/, "")]); [cells, cell] = [[], ""]; }
    else cell += char;
  }
  if ((cell || cells.length) && rows.length <= most) rows.push([...cells, cell]);
  const [header = [], ...body] = rows.map((row) => row.map((one) => one.replace(/^\ufeff/, "").trim()));
  return { header, rows: body.filter((row) => row.some(Boolean)).slice(0, most) };
}
