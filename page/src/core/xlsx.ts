// Enough of .xlsx to show the first rows of a file. What counts is how the server reads it.
// Such a file is a zip file of XML documents: the list of sheets, each sheet, and the texts that the sheets share.

import type { Preview } from "./csv.ts";

const END = 0x06054b50; // signatures of the zip format
const ENTRY = 0x02014b50;
const DEFLATED = 8;

type Parts = Map<string, () => Promise<string>>;

// Header and first rows of the first sheet; null if the file cannot be read. The server then says why.
export async function xlsxPreview(file: File, limit = 40): Promise<Preview | null> {
  try {
    const parts = await partsOf(file);
    const sheet = await xml(parts, await firstSheet(parts));
    const texts = parts.has("xl/sharedStrings.xml") ? await xml(parts, "xl/sharedStrings.xml") : null;
    const shared = [...(texts?.getElementsByTagName("si") ?? [])].map(textOf);
    const rows = [...sheet.getElementsByTagName("row")].slice(0, limit + 1).map((row) => cellsOf(row, shared));
    const [header = [], ...body] = rows.filter((row) => row.some(Boolean));
    return { header: header.map((name) => name.trim()), rows: body, delimiter: "," };
  } catch {
    return null;
  }
}

async function firstSheet(parts: Parts): Promise<string> {
  const workbook = await xml(parts, "xl/workbook.xml");
  const relations = await xml(parts, "xl/_rels/workbook.xml.rels");
  const id = workbook.getElementsByTagName("sheet")[0]?.getAttribute("r:id");
  const target = [...relations.getElementsByTagName("Relationship")]
    .find((relation) => relation.getAttribute("Id") === id)
    ?.getAttribute("Target");
  if (!target) throw new Error("no sheet");
  return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
}

// A row leaves out its empty cells, so a cell's column is in its name: C7 is the third.
function cellsOf(row: Element, shared: string[]): string[] {
  const cells: string[] = [];
  for (const cell of row.getElementsByTagName("c")) {
    const column = columnOf(cell.getAttribute("r")) ?? cells.length;
    while (cells.length < column) cells.push("");
    cells[column] = cellText(cell, shared);
  }
  return cells;
}

function columnOf(name: string | null): number | null {
  const letters = /^[A-Z]{1,3}/.exec(name ?? "")?.[0];
  return letters ? [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1 : null;
}

function cellText(cell: Element, shared: string[]): string {
  const value = cell.getElementsByTagName("v")[0]?.textContent ?? "";
  const type = cell.getAttribute("t");
  if (type === "s") return shared[Number(value)] ?? "";
  if (type === "inlineStr") return textOf(cell);
  return type === "b" ? String(value === "1") : value;
}

const textOf = (element: Element) => [...element.getElementsByTagName("t")].map((text) => text.textContent).join("");

async function xml(parts: Parts, name: string): Promise<Document> {
  const read = parts.get(name);
  if (!read) throw new Error(`no part ${name}`);
  return new DOMParser().parseFromString(await read(), "application/xml");
}

// Name → a function that reads the part, from the directory at the end of the zip file.
async function partsOf(file: File): Promise<Parts> {
  const view = new DataView(await file.arrayBuffer());
  let end = view.byteLength - 22;
  while (view.getUint32(end, true) !== END) end -= 1;
  let at = view.getUint32(end + 16, true);
  const parts: Parts = new Map();
  while (view.getUint32(at, true) === ENTRY) {
    const here = at;
    const length = (offset: number) => view.getUint16(here + offset, true);
    const entry = { method: length(10), size: view.getUint32(at + 20, true), start: view.getUint32(at + 42, true) };
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, length(28)));
    parts.set(name, () => unpack(file, view, entry));
    at += 46 + length(28) + length(30) + length(32);
  }
  return parts;
}

interface Entry {
  method: number;
  size: number;
  start: number;
}

function unpack(file: File, view: DataView, { method, size, start }: Entry): Promise<string> {
  const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  const packed = file.slice(from, from + size);
  if (method !== DEFLATED) return packed.text();
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
