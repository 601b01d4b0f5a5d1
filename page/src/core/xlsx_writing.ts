// A table as an .xlsx file: one sheet with its header frozen, texts as texts and numbers as numbers.
// Such a file is a zip file of XML documents; each is compressed by the browser itself.

import type { Writable } from "./csv.ts";

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

export function xlsxFile(header: string[], rows: Writable[][]): Promise<Blob> {
  const parts = { ...AROUND, "xl/worksheets/sheet1.xml": sheetText([header, ...rows]) };
  return zipped(Object.entries(parts));
}

const relations = (target: string, kind: string) =>
  `${DECLARED}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/${kind}" Target="${target}"/></Relationships>`;

const AROUND = {
  "[Content_Types].xml": `${DECLARED}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEETS}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEETS}.worksheet+xml"/></Types>`,
  "_rels/.rels": relations("xl/workbook.xml", "officeDocument"),
  "xl/workbook.xml": `${DECLARED}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="sheet" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": relations("worksheets/sheet1.xml", "worksheet"),
};

function sheetText(rows: Writable[][]): string {
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const lines = rows.map((row, position) => `<row r="${position + 1}">${row.map(cellText).join("")}</row>`);
  return `${DECLARED}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews><sheetData>${lines.join("")}</sheetData></worksheet>`;
}

// An empty cell keeps its place. Nothing is read as a formula: a text says that it is one.
function cellText(value: Writable): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "<c/>";
  if (typeof value === "number") return `<c><v>${value}</v></c>`;
  if (typeof value === "boolean") return `<c t="b"><v>${Number(value)}</v></c>`;
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const escaped = (text: string) =>
  text.replace(UNFIT, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const DEFLATED = 8;
const UTF8 = 0x0800;
const NEW_YEAR_1980 = 0x21; // the earliest date of the format: equal tables give equal files

async function zipped(parts: [string, string][]): Promise<Blob> {
  const files: BlobPart[] = [];
  const directory: BlobPart[] = [];
  let at = 0;
  for (const [name, text] of parts) {
    const label = new TextEncoder().encode(name);
    const content = new TextEncoder().encode(text);
    const packed = await deflated(content);
    const sizes = [
      DEFLATED,
      0,
      NEW_YEAR_1980,
      ...words(crc32(content)),
      ...words(packed.size),
      ...words(content.length),
    ];
    const common = [20, UTF8, ...sizes, label.length, 0];
    files.push(shorts(0x4b50, 0x0403, ...common), label, packed);
    directory.push(shorts(0x4b50, 0x0201, 20, ...common, 0, 0, 0, 0, 0, ...words(at)), label);
    at += 30 + label.length + packed.size;
  }
  const size = new Blob(directory).size;
  const end = shorts(0x4b50, 0x0605, 0, 0, parts.length, parts.length, ...words(size), ...words(at), 0);
  return new Blob([...files, ...directory, end], { type: `${SHEETS}.sheet` });
}

const deflated = (content: Uint8Array<ArrayBuffer>): Promise<Blob> =>
  new Response(new Blob([content]).stream().pipeThrough(new CompressionStream("deflate-raw"))).blob();

// The zip format is made of little-endian numbers of 16 bits; one of 32 is two of them.
const words = (value: number) => [value & 0xffff, value >>> 16];

function shorts(...values: number[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(2 * values.length));
  values.forEach((value, position) => {
    view.setUint16(2 * position, value, true);
  });
  return new Uint8Array(view.buffer);
}

function crc32(content: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of content) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
