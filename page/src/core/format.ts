// Numbers with sensible digits in the reader's locale, times in the reader's zone, names in words.

import type { Cell } from "./types.ts";

const MINUS = "−";
const DASH = "–";
const GROUPS = "min2" as unknown as boolean; // 3150, but 12,500
const FIXED = "\u00a0"; // no line ends between a number and its unit
const sign = (text: string) => text.replace(/^-/, MINUS);

const formats = new Map<string, Intl.NumberFormat>();
function format(least: number, most: number): Intl.NumberFormat {
  const name = `${least} ${most}`;
  const known = formats.get(name);
  if (known) return known;
  const made = new Intl.NumberFormat(undefined, {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    useGrouping: GROUPS,
  });
  formats.set(name, made);
  return made;
}

export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e13 || size < TINY)) return scientific(value, digits);
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return sign(format(0, Math.min(decimals, 10)).format(value));
}

const TINY = 1e-5; // smaller numbers are written with a power of ten
const SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raised = (power: number | string): string =>
  [...String(power)].map((digit) => (digit === "-" ? "⁻" : SUPER[Number(digit)])).join("");
function scientific(value: number, digits: number): string {
  const [mantissa = "", power = "0"] = value.toExponential(Math.max(0, digits - 2)).split("e");
  return `${sign(format(0, 10).format(Number(mantissa)))} × 10${raised(power.replace("+", ""))}`;
}

// An estimate has a few significant digits, also where they end before the point: 198,874 becomes 199,000.
export const estimated = (value: number, digits = 3): string => number(Number(value.toPrecision(digits)), digits);

// A value beside how sure it is: as many digits as the uncertainty is worth.
export function measured(value: number, spread: number | null | undefined, unit = ""): string {
  if (!(spread && spread > 0)) return withUnit(number(value), unit);
  const pair = (middle: string, around: string) => withUnit(`${middle}${FIXED}±${FIXED}${around}`, unit);
  if (Math.abs(value) >= 1e13 || spread < 1e-16) return pair(number(value), number(spread, 2));
  if (Math.max(Math.abs(value), spread) < TINY) {
    const power = Math.floor(Math.log10(Math.max(Math.abs(value), spread)));
    return withUnit(`(${measured(value / 10 ** power, spread / 10 ** power)}) × 10${raised(power)}`, unit);
  }
  const worth = Math.min(10, 1 - Math.floor(Math.log10(spread)));
  if (worth < 0) {
    const step = 10 ** -worth;
    return pair(number(Math.round(value / step) * step), number(Math.round(spread / step) * step));
  }
  const shown = format(worth, worth);
  return pair(sign(shown.format(value)), shown.format(spread));
}

// What a person typed is shown as typed: every digit of it. A number holds fifteen digits for certain; one with more was
// computed, and is rounded.
const DIGITS = 15;
export function exact(value: number): string {
  if (Number(value.toPrecision(DIGITS)) !== value) return number(value, 6);
  return Math.abs(value) >= 1e21 || (value !== 0 && Math.abs(value) < 1e-9)
    ? scientific(value, 17)
    : sign(format(0, 17).format(value));
}

// A long unit may stand on a line of its own; otherwise the line would end within the number.
const LONG_UNIT = 12;
export const withUnit = (text: string, unit?: string): string =>
  unit ? `${text}${unit.length > LONG_UNIT ? " " : FIXED}${unit}` : text;
// Between two percentages lie percentage points.
export const differenceUnit = (unit: string): string => (unit === "%" ? "percentage points" : unit);
export const difference = (value: number, unit: string, digits = 3): string =>
  withUnit(estimated(value, digits), differenceUnit(unit));
export const percent = (share: number): string => {
  const size = share * 100;
  if (size > 0 && size < 1) return `< 1${FIXED}%`;
  if (size > 99 && size < 100) return `> 99${FIXED}%`;
  return `${number(size, 2)}${FIXED}%`;
};

// A sentence of the server, with its numbers as the reader writes them: 158,258 becomes 158.258 in German.
const NUMBER = /(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,]\d)/g;
export const localised = (sentence: string): string =>
  sentence
    .replace(NUMBER, (found) => {
      const decimals = found.split(".")[1]?.length ?? 0;
      return sign(format(decimals, decimals).format(Number(found.replaceAll(",", ""))));
    })
    .replace(/(\d) ?%/g, `$1${FIXED}%`);
export const count = (value: number): string => format(0, 0).format(value);
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

export function cell(value: Cell | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const fullTime = (stamp: string): string => FULL.format(new Date(stamp));

export function shortTime(stamp: string): string {
  const moment = new Date(stamp);
  const today = moment.toDateString() === new Date().toDateString();
  return today ? CLOCK.format(moment) : `${DAY.format(moment)}, ${CLOCK.format(moment)}`;
}

export const clockTime = (stamp: string): string => CLOCK.format(new Date(stamp));
const WHOLE_DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const OLD_DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });

// The day of a moment, as a heading; another year is named.
export function dayWords(stamp: string): string {
  const [moment, now] = [new Date(stamp), new Date()];
  if (moment.toDateString() === now.toDateString()) return "Today";
  return (moment.getFullYear() === now.getFullYear() ? WHOLE_DAY : OLD_DAY).format(moment);
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

export function ago(stamp: string): string {
  const seconds = (new Date(stamp).getTime() - Date.now()) / 1000;
  for (const [unit, size] of UNITS) if (Math.abs(seconds) >= size) return AGO.format(Math.round(seconds / size), unit);
  return "just now";
}

const isAmbiguous = (text: string) => /^[+\-−]?[1-9]\d{0,2},\d{3}$/.test(text.trim());

// Said of what `parse` does not take for a number.
export const whatToWrite = (text: string) =>
  isAmbiguous(text)
    ? `${text.trim()} can be read as a thousand or as a fraction. Write it without a comma.`
    : "Write a plain number such as 83.1.";

// A number as people type it: a point or a comma before the decimals. 1,234 can also be a thousand, so it is none.
export function parse(text: string): number | null {
  if (isAmbiguous(text)) return null;
  const plain = text
    .trim()
    .replace(MINUS, "-")
    .replace(/^([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)$/, "$1.$2");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

interface Outcome {
  value: number | null;
  values: Record<string, { value: number }>;
}

// What a result says: its value with the unit, or each of its quantities by name, in their own order.
export function outcome({ value, values }: Outcome, quantities: { name: string; unit: string }[]): string {
  if (quantities.length > 1) {
    const known = quantities.filter(({ name }) => name in values);
    return known.map(({ name, unit }) => `${name} ${withUnit(exact(values[name]?.value ?? 0), unit)}`).join(", ");
  }
  return value === null ? DASH : withUnit(exact(value), quantities[0]?.unit);
}
