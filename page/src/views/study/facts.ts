// What every part of a study's view reads: the study, its summary, how it went, and its results.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { get, pages, studyApi } from "../../core/api.ts";
import { type Fetched, useFollowed, useRead } from "../../core/hooks.ts";
import { expectedOf } from "../../core/quantities.ts";
import type {
  Bench,
  LedgerEvent,
  Observation,
  ObservationPage,
  Study,
  Suggestion,
  Summary,
  Trace,
} from "../../core/types.ts";
import { batchOf, learnNames } from "../../core/words.ts";

export interface Facts {
  name: string;
  study: Study;
  summary: Summary;
  trace: Trace;
  look: () => Promise<void>;
  onEvent: (act: (event: LedgerEvent) => void) => () => void;
}

// How it went is the largest answer. Until it is there, the headline is shown without it.
export const NO_TRACE_YET: Trace = { batches: [], progress: [], hypervolume: [] };

export const FactsContext = createContext<Facts | null>(null);

export function useFacts(): Facts {
  const facts = useContext(FactsContext);
  if (!facts) throw new Error("no study here");
  return facts;
}

export interface Result extends Observation {
  batch: number | null;
  suggested: Suggestion | null; // why it was suggested, and what was expected then
}

// Every current result with the suggestion it answers.
export async function readResults(name: string): Promise<Result[]> {
  const observed = get<Bench>(`${studyApi(name, "/suggestions")}?state=observed`);
  const pending = get<Bench>(studyApi(name, "/suggestions"));
  const found: Observation[] = [];
  for await (const page of pages<ObservationPage>(studyApi(name, "/observations"), 10_000)) {
    found.push(...page.observations.filter((observation) => observation.state === "recorded"));
    learnNames(page.actors);
  }
  const suggestions = [...(await observed).suggestions, ...(await pending).suggestions];
  const byName = new Map(suggestions.map((suggestion) => [suggestion.suggestion, suggestion]));
  return found.map((observation) => ({
    ...observation,
    batch: batchOf(observation.suggestion),
    suggested: byName.get(observation.suggestion ?? "") ?? null,
  }));
}

const SURPRISE = 2; // standard deviations from what was expected

export interface Surprise {
  far: number; // from what was expected then, in standard deviations
  quantity: string; // of several, the one that is furthest off
}

export function surpriseOf({ values, suggested }: Result): Surprise | null {
  const names = Object.keys(values);
  const found = names.flatMap((name): Surprise[] => {
    const expected = expectedOf(suggested?.why, name);
    const value = values[name]?.value ?? Number.NaN;
    const quantity = suggested && Object.keys(suggested.why.quantities).length > 1 ? name : "";
    return expected && expected.std > 0 ? [{ far: (value - expected.mean) / expected.std, quantity }] : [];
  });
  return found.sort((a, b) => Math.abs(b.far) - Math.abs(a.far))[0] ?? null;
}

export const isSurprise = (result: Result): boolean => Math.abs(surpriseOf(result)?.far ?? 0) > SURPRISE;

const MANY = 2_000;

export function useResults(): Fetched<Result[]> {
  const { name, summary } = useFacts();
  const seq = useFollowed(summary.seq, summary.counts.observations > MANY ? 4_000 : 0);
  return useRead(() => readResults(name), [name, seq]);
}

// "temperature (°C)" → "°C"
export const unitOf = (column: string): string => /[([]([^()[\]]{1,12})[)\]]\s*$/.exec(column)?.[1] ?? "";
export const bareName = (column: string): string => column.replace(/\s*[([][^()[\]]{1,12}[)\]]\s*$/, "");
