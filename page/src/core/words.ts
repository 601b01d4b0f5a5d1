// The server's codes as words: why a batch has its size, why a study is finished, who did something.

import { get, v1 } from "./api.ts";
import { differenceUnit, measured, number, withUnit } from "./format.ts";
import { may, me } from "./session.ts";
import type { Key, Summary, Why } from "./types.ts";

const ENDED: Record<string, string> = {
  rule: "the next choice needs these results",
  size: "the size requested",
  promise: "one more would promise too little",
  exhausted: "no candidates left",
};
const FINISHED: Record<string, string> = {
  observations: "it has as many results as planned",
  date: "its end date has passed",
  regret_bound: "no candidate can be much better than the one recommended",
};

export const endedWords = (ended: string): string => ENDED[ended] ?? ended;
export const finishedWords = (rule: string): string => FINISHED[rule] ?? rule;
export const stateWords = (state: string): string => (state === "observed" ? "measured" : state);

// "batch-issued" → "Batch issued"
export const typeWords = (type: string): string => type.charAt(0).toUpperCase() + type.slice(1).replaceAll("-", " ");

const names = new Map([["server", "the server"]]);

// Only admins can read the names of keys; everybody else sees a key's id.
export async function learnNames(): Promise<void> {
  if (!may("keys")) return;
  for (const key of (await get<{ keys: Key[] }>(v1("keys"))).keys) names.set(key.id, key.name);
}

export const actorWords = (id: string): string => (id === me()?.id ? "you" : (names.get(id) ?? `key ${id}`));

// "B3-S1" → 3
export const batchOf = (suggestion: string | null | undefined): number | null =>
  suggestion ? Number(/^B(\d+)-/.exec(suggestion)?.[1] ?? Number.NaN) || null : null;

// Whether a value is better than another, for this study.
export const isBetter = ({ direction }: Pick<Summary, "direction">, value: number, other: number): boolean =>
  direction === "minimize" ? value < other : value > other;

export const improvement = (value: number, unit: string): string =>
  `≤ ${withUnit(number(value, 3), differenceUnit(unit))}`;

export function affectedWords(batches: number[]): string {
  if (!batches.length) return "";
  const [which, they] = batches.length === 1 ? ["Batch", "it stays"] : ["Batches", "they stay"];
  return ` ${which} ${batches.join(", ")} used the old value; ${they} as issued.`;
}

// Why a candidate was suggested, without the numbers behind it: neighbours and expectations stand beside it.
export const purposeWords = (words: string): string =>
  words.replace(/ \(\d+ ?% exploration\)/, "").replace(/ Its similarity to .*$/, "");

// What was expected of a candidate: of each quantity by name, or of the only one.
export function expectedWords(why: Pick<Why, "mean" | "std" | "quantities">, { quantities, unit }: Summary): string {
  const several = quantities.filter(({ name }) => name in why.quantities);
  if (quantities.length > 1 && several.length)
    return several
      .map((quantity) => {
        const expected = why.quantities[quantity.name];
        return `${quantity.name} ${measured(expected?.mean ?? 0, expected?.std, quantity.unit)}`;
      })
      .join(", ");
  return why.mean === null ? "–" : measured(why.mean, why.std, unit);
}
