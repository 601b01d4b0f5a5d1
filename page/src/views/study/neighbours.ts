// The measured candidates most like another, and what differs between them, in words.

import { get, query, studyApi } from "../../core/api.ts";
import { number } from "../../core/format.ts";
import type { Candidate, CandidatePage, Cell, Column, Suggestion } from "../../core/types.ts";
import { bareName, type Result, unitOf } from "./facts.ts";

export interface Neighbour {
  key: string;
  value: number;
  similarity: number | null; // as the model sees it, if it said so
  words: string;
}

const MOST = 3;
const COMPARED = 300;

const joinWords = (names: string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");

// "same ligand and solvent, temperature 15 °C higher"
export function differenceWords(columns: Column[], here: Record<string, Cell>, there: Record<string, Cell>): string {
  const features = columns.filter((column) => column.role === "feature");
  const same = features.filter(({ name }) => here[name] === there[name]);
  const other = features.filter(({ name }) => here[name] !== there[name]);
  if (!other.length) return "the same in every feature";
  const parts = other.slice(0, 4).map((column) => wordsFor(column, here[column.name], there[column.name]));
  if (other.length > 4) parts.push(`${other.length - 4} more differences`);
  const few = same.slice(0, 4).map(({ name }) => bareName(name));
  return [few.length ? `same ${joinWords(few)}` : "", ...parts].filter(Boolean).join("; ");
}

function wordsFor({ name, kind }: Column, here: Cell | undefined, there: Cell | undefined): string {
  const title = bareName(name);
  if (kind === "number" && typeof here === "number" && typeof there === "number") {
    const unit = unitOf(name);
    const gap = number(Math.abs(here - there), 3);
    return `${title} ${unit ? `${gap} ${unit}` : gap} ${here > there ? "higher" : "lower"}`;
  }
  return `${title} ${here ?? "missing"} instead of ${there ?? "missing"}`;
}

// By the model's own similarity where the candidate was suggested; else by how alike they are, column by column.
export async function neighboursOf(
  study: string,
  columns: Column[],
  candidate: Candidate,
  suggestion: Suggestion | null,
  results: Result[],
): Promise<Neighbour[]> {
  const values = new Map<string, number[]>();
  for (const { key, value } of results) {
    if (key !== candidate.key && value !== null) values.set(key, [...(values.get(key) ?? []), value]);
  }
  const named = (suggestion?.why.nearest ?? []).filter(({ key }) => values.has(key));
  const wanted: { key: string; similarity: number | null }[] = named.length
    ? named
    : [...values.keys()].slice(-COMPARED).map((key) => ({ key, similarity: null }));
  const known = await featuresOf(
    study,
    wanted.map(({ key }) => key),
    results,
  );
  const far = distances(columns, [candidate.features, ...known.values()]);
  const found = wanted.flatMap(({ key, similarity }) => {
    const features = known.get(key);
    if (!features) return [];
    const measurements = values.get(key) ?? [];
    const value = measurements.reduce((sum, measurement) => sum + measurement, 0) / measurements.length;
    const words = differenceWords(columns, candidate.features, features);
    return [{ key, value, similarity, words, distance: far(candidate.features, features) }];
  });
  if (!named.length) found.sort((a, b) => a.distance - b.distance);
  return found.slice(0, MOST);
}

// What was suggested has its features beside it; what was imported or measured unasked is read from the list.
async function featuresOf(
  study: string,
  keys: string[],
  results: Result[],
): Promise<Map<string, Record<string, Cell>>> {
  const known = new Map<string, Record<string, Cell>>(
    results.flatMap(({ key, suggested }) => (suggested ? [[key, suggested.features] as const] : [])),
  );
  const missing = keys.filter((key) => !known.has(key));
  if (missing.length) {
    const asked = query({ key: missing, limit: missing.length });
    const page = await get<CandidatePage>(studyApi(study, "/candidates") + asked);
    for (const { key, features } of page.candidates) known.set(key, features);
  }
  return new Map(keys.flatMap((key) => (known.has(key) ? [[key, known.get(key) ?? {}] as const] : [])));
}

// How far apart two candidates are: of a number, the share of the column's range; of anything else, whether it differs.
function distances(columns: Column[], all: Record<string, Cell>[]) {
  const ranges = columns
    .filter((column) => column.role === "feature")
    .map(({ name }): [string, number] => {
      const numbers = all.flatMap((features) => (typeof features[name] === "number" ? [features[name]] : []));
      return [name, Math.max(...numbers) - Math.min(...numbers)];
    });
  return (here: Record<string, Cell>, there: Record<string, Cell>) =>
    ranges.reduce((sum, [name, range]) => {
      const [a, b] = [here[name], there[name]];
      if (typeof a === "number" && typeof b === "number") return sum + (range > 0 ? Math.abs(a - b) / range : 0);
      return sum + (a === b ? 0 : 1);
    }, 0);
}
