// The server's codes as words: why a batch has its size, why a study is finished, who did something.

import { get, v1 } from "./api.ts";
import { differenceUnit, estimated, localised, measured, withUnit } from "./format.ts";
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

// Results and events come with the names of the keys that they were sent with.
export function learnNames(actors: Record<string, string>): void {
  for (const [id, name] of Object.entries(actors)) names.set(id, name);
}

// Of all keys, for what belongs to no study. Only admins can read it.
export async function learnAllNames(): Promise<void> {
  if (!may("keys")) return;
  for (const key of (await get<{ keys: Key[] }>(v1("keys"))).keys) names.set(key.id, key.name);
}

export const isNamed = (id: string): boolean => id === me()?.id || names.has(id);

export const nameOfKey = (id: string): string => names.get(id) ?? id;
export const actorWords = (id: string): string => (id === me()?.id ? "you" : (names.get(id) ?? `key ${id}`));

// "B3-S1" → 3
export const batchOf = (suggestion: string | null | undefined): number | null =>
  suggestion ? Number(/^B(\d+)-/.exec(suggestion)?.[1] ?? Number.NaN) || null : null;

// Whether a value is better than another, for this study.
export const isBetter = ({ direction }: Pick<Summary, "direction">, value: number, other: number): boolean =>
  direction === "minimize" ? value < other : value > other;

// How much better another candidate can be at most: as the fitted model estimates it, once it can; else as it is bounded.
export const mostToGain = ({ outlook, certificate }: Pick<Summary, "outlook" | "certificate">): number | null =>
  (outlook ? outlook.remaining_gain?.upper : certificate?.regret_bound) ?? null;

export const improvement = (value: number, unit: string): string =>
  `≤\u00a0${withUnit(estimated(value), differenceUnit(unit))}`;

export function affectedWords(batches: number[]): string {
  if (!batches.length) return "";
  const [which, they] = batches.length === 1 ? ["Batch", "it stays"] : ["Batches", "they stay"];
  return ` ${which} ${batches.join(", ")} used the old value; ${they} as issued.`;
}

// Why a candidate was suggested, without the numbers behind it: neighbours and expectations stand beside it.
export const purposeWords = (words: string): string =>
  localised(words.replace(/ \(\d+ ?% exploration\)/, "").replace(/ Its similarity to .*$/, ""));

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
