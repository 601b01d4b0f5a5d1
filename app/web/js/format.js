// Numbers with sensible digits, times in the reader's zone, names in words.

const MINUS = "−";

export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4))
    return sign(value.toExponential(Math.max(0, digits - 2)).replace("e+", "e"));
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return fixed(value, Math.min(decimals, 8), false);
}

// A value beside how sure it is: as many decimals as the uncertainty is worth.
export function measured(value, spread, unit = "") {
  if (!(spread > 0)) return withUnit(number(value), unit);
  const decimals = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(spread))));
  if (Math.abs(value) >= 1e7 || spread < 1e-6) return withUnit(`${number(value)} ± ${number(spread, 2)}`, unit);
  return withUnit(`${fixed(value, decimals, true)} ± ${fixed(spread, decimals, true)}`, unit);
}

// What a person typed is shown as typed: every digit of it.
export const exact = (value) => sign(String(value));

export const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);
export const count = (value) => new Intl.NumberFormat("en").format(value).replaceAll(",", "\u202f");
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

function fixed(value, decimals, keepZeros) {
  const text = value.toFixed(decimals);
  return sign(keepZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, ""));
}

const sign = (text) => text.replace(/^-/, MINUS).replace("e-", `e${MINUS}`);

export function cell(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const fullTime = (stamp) => FULL.format(new Date(stamp));

export function shortTime(stamp) {
  const moment = new Date(stamp);
  const today = moment.toDateString() === new Date().toDateString();
  return today ? CLOCK.format(moment) : `${DAY.format(moment)}, ${CLOCK.format(moment)}`;
}

export function ago(stamp) {
  const seconds = (new Date(stamp) - Date.now()) / 1000;
  for (const [unit, size] of [
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
  ]) {
    if (Math.abs(seconds) >= size) return AGO.format(Math.round(seconds / size), unit);
  }
  return "just now";
}

// A number as people type it: a point or a comma before the decimals. 1,234 can also be a thousand, so it is none.
export function parse(text) {
  if (isAmbiguous(text)) return null;
  const plain = text
    .trim()
    .replace(MINUS, "-")
    .replace(/^([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)$/, "$1.$2");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

export const whatToWrite = (text) =>
  isAmbiguous(text)
    ? `${text.trim()} can be read as a thousand or as a fraction. Write it without a comma.`
    : "Write a plain number such as 83.1.";

const isAmbiguous = (text) => /^[+\-−]?[1-9]\d{0,2},\d{3}$/.test(text.trim());
