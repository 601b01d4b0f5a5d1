// What is on a bench: a worker's batch and its results. A copy is stored for when the server cannot be reached.

import { get, Offline, pages, query, studyApi } from "../../core/api.ts";
import type { Batch, BatchBrief, BatchPage, Observation, ObservationPage, Study, Summary } from "../../core/types.ts";

export interface BenchFacts {
  study: Study;
  summary: Summary;
  batch: Batch | null;
  history: BatchBrief[]; // the worker's batches, oldest first
  results: Map<string, Observation>; // "B3-S1/2" → the observation that stands there, taken back or not
}

type Kept = Omit<BenchFacts, "results"> & { results: [string, Observation][] };

const STORE = (name: string, worker: string, number: number | null) =>
  `nextbatch:bench:${name}:${worker}${number ? `:${number}` : ""}`;

export async function readBench(name: string, worker: string, number: number | null): Promise<BenchFacts> {
  const store = STORE(name, worker, number);
  try {
    const facts = await fromServer(name, worker, number);
    localStorage.setItem(store, JSON.stringify({ ...facts, results: [...facts.results] } satisfies Kept));
    return facts;
  } catch (error) {
    const kept = localStorage.getItem(store);
    if (!(error instanceof Offline) || !kept) throw error;
    const facts = JSON.parse(kept) as Kept;
    return { ...facts, history: facts.history ?? [], results: new Map(facts.results) };
  }
}

async function fromServer(name: string, worker: string, number: number | null): Promise<BenchFacts> {
  const [study, summary, history] = await Promise.all([
    get<Study>(studyApi(name)),
    get<Summary>(studyApi(name, "/summary")),
    historyOf(name, worker),
  ]);
  const shown = number ?? (history.find((batch) => batch.state === "open") ?? history.at(-1))?.number;
  if (shown === undefined) return { study, summary, batch: null, history, results: new Map() };
  const [batch, results] = await Promise.all([get<Batch>(studyApi(name, `/batches/${shown}`)), resultsOf(name, shown)]);
  return { study, summary, batch, history, results };
}

async function historyOf(name: string, worker: string): Promise<BatchBrief[]> {
  const found: BatchBrief[] = [];
  for await (const page of pages<BatchPage>(studyApi(name, "/batches") + query({ worker })))
    found.push(...page.batches);
  return found;
}

const starts = new Map<string, number>(); // batch → the observation after which its results begin: earlier ones are read once

async function resultsOf(name: string, batch: number): Promise<Map<string, Observation>> {
  const results = new Map<string, Observation>();
  const known = `${name} ${batch}`;
  let first: number | null = null;
  let last = starts.get(known) ?? 0;
  for await (const page of pages<ObservationPage>(studyApi(name, "/observations"), 10_000, last)) {
    for (const observation of page.observations) {
      const { observation: number, suggestion, replicate } = observation;
      last = number;
      if (!suggestion?.startsWith(`B${batch}-`)) continue;
      first ??= number - 1;
      results.set(`${suggestion}/${replicate}`, observation);
    }
  }
  starts.set(known, first ?? last);
  return results;
}
