// What is on a bench: the worker's newest batch and its results. A copy is stored for when the server cannot be reached.

import { get, Offline, pages, study as path, query } from "../api.js";

const STORE = (name, worker) => `nextbatch:bench:${name}:${worker}`;

export async function readBench(name, worker) {
  try {
    const facts = await fromServer(name, worker);
    localStorage.setItem(STORE(name, worker), JSON.stringify({ ...facts, results: [...facts.results] }));
    return facts;
  } catch (error) {
    const kept = localStorage.getItem(STORE(name, worker));
    if (!(error instanceof Offline) || !kept) throw error;
    const facts = JSON.parse(kept);
    return { ...facts, results: new Map(facts.results) };
  }
}

async function fromServer(name, worker) {
  const [study, summary, number] = await Promise.all([
    get(path(name)),
    get(path(name, "/summary")),
    newest(name, worker),
  ]);
  if (number === null) return { study, summary, batch: null, results: new Map() };
  const batch = await get(path(name, `/batches/${number}`));
  return { study, summary, batch, results: await resultsOf(name, batch, summary) };
}

// The open batch, else the last one: what was just finished can still be corrected.
async function newest(name, worker) {
  const open = await get(path(name, "/batches") + query({ worker, state: "open" }));
  if (open.batches.length) return open.batches[0].number;
  let last = null;
  for await (const page of pages(path(name, "/batches") + query({ worker })))
    last = page.batches.at(-1)?.number ?? last;
  return last;
}

const starts = new Map(); // batch → the observation after which its results begin: earlier ones are read once

// "B3-S1/2" → the observation that stands there.
async function resultsOf(name, batch, summary) {
  const results = new Map(),
    known = `${name} ${batch.number}`;
  if (!summary.counts.observations) return results;
  let first = null,
    last = starts.get(known) ?? 0;
  for await (const page of pages(path(name, "/observations"), 10_000, last)) {
    for (const observation of page.observations) {
      const { observation: number, suggestion, replicate, state } = observation;
      last = number;
      if (!suggestion?.startsWith(`B${batch.number}-`)) continue;
      first ??= number - 1;
      if (state === "recorded") results.set(`${suggestion}/${replicate}`, observation);
    }
  }
  starts.set(known, first ?? last);
  return results;
}
