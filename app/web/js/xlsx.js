// Enough of .xlsx to show the first rows of a file. What counts is how the server reads it.
// Such a file is a zip file of XML documents: the list of sheets, each sheet, and the texts that the sheets share.

const END = 0x06054b50, // signatures of the zip format
  ENTRY = 0x02014b50;
const DEFLATED = 8;

export const isXlsx = (file) => /\.xlsx$/i.test(file.name);
export const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
export const mediaType = (file) => (isXlsx(file) ? XLSX : "text/csv");

// Header and first rows of the first sheet; none if the file cannot be read. The server then says why.
export async function preview(file, limit = 8) {
  try {
    const parts = await partsOf(file);
    const sheet = await xml(parts, await firstSheet(parts));
    const texts = parts.has("xl/sharedStrings.xml") ? await xml(parts, "xl/sharedStrings.xml") : null;
    const shared = [...(texts?.getElementsByTagName("si") ?? [])].map(textOf);
    const rows = [...sheet.getElementsByTagName("row")].slice(0, limit + 1).map((row) => cellsOf(row, shared));
    const [header = [], ...body] = rows.filter((row) => row.some(Boolean));
    return { header: header.map((name) => name.trim()), rows: body };
  } catch {
    return { header: [], rows: [] };
  }
}

async function firstSheet(parts) {
  const workbook = await xml(parts, "xl/workbook.xml");
  const relations = await xml(parts, "xl/_rels/workbook.xml.rels");
  const id = workbook.getElementsByTagName("sheet")[0].getAttribute("r:id");
  const target = [...relations.getElementsByTagName("Relationship")]
    .find((relation) => relation.getAttribute("Id") === id)
    .getAttribute("Target");
  return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
}

// A row leaves out its empty cells, so a cell's column is in its name: C7 is the third.
function cellsOf(row, shared) {
  const cells = [];
  for (const cell of row.getElementsByTagName("c")) {
    const column = columnOf(cell.getAttribute("r")) ?? cells.length;
    while (cells.length < column) cells.push("");
    cells[column] = cellText(cell, shared);
  }
  return cells;
}

function columnOf(name) {
  const letters = /^[A-Z]{1,3}/.exec(name ?? "")?.[0];
  return letters ? [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1 : null;
}

function cellText(cell, shared) {
  const value = cell.getElementsByTagName("v")[0]?.textContent ?? "";
  const type = cell.getAttribute("t");
  if (type === "s") return shared[Number(value)] ?? "";
  if (type === "inlineStr") return textOf(cell);
  return type === "b" ? String(value === "1") : value;
}

const textOf = (element) => [...element.getElementsByTagName("t")].map((text) => text.textContent).join("");

async function xml(parts, name) {
  return new DOMParser().parseFromString(await parts.get(name)(), "application/xml");
}

// Name → a function that reads the part, from the directory at the end of the zip file.
async function partsOf(file) {
  const view = new DataView(await file.arrayBuffer());
  let end = view.byteLength - 22;
  while (view.getUint32(end, true) !== END) end -= 1;
  let at = view.getUint32(end + 16, true);
  const parts = new Map();
  while (view.getUint32(at, true) === ENTRY) {
    const [name, more, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const entry = {
      method: view.getUint16(at + 10, true),
      size: view.getUint32(at + 20, true),
      start: view.getUint32(at + 42, true),
    };
    parts.set(new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, name)), () => unpack(file, view, entry));
    at += 46 + name + more + comment;
  }
  return parts;
}

function unpack(file, view, { method, size, start }) {
  const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  const packed = file.slice(from, from + size);
  if (method !== DEFLATED) return packed.text();
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
