// Ask for the next batch. The same worker asking again gets its open batch, so a second click does no harm.

import { send, study as path, token } from "../api.js";
import { ask } from "../parts.js";

const WORKER = "nextbatch:worker";
export const lastWorker = () => localStorage.getItem(WORKER) ?? "bench-1";
export const rememberWorker = (worker) => localStorage.setItem(WORKER, worker);

export function askForBatch(name, summary, onDone, worker = lastWorker()) {
  ask({
    title: "Ask for a batch",
    text: "The algorithm chooses how many measurements are worth making at once; you may limit them.",
    confirm: "Ask",
    fields: [
      { name: "worker", label: "Worker", value: worker, hint: "The bench, robot or person that will measure.", required: true, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}" },
      { name: "max", label: "At most", kind: "number", min: 1, step: 1, hint: "Measurements in the batch; empty for the study's own limit." },
    ],
    act: async ({ worker: chosen, max }) => {
      rememberWorker(chosen);
      onDone(await nextBatch(name, chosen, max ? Number(max) : null));
    },
  });
}

// 202 means that it is still being computed: the same question again gets it.
export async function nextBatch(name, worker, most = null) {
  const body = { worker, wait: 20, ...(most ? { max_size: most } : {}) };
  for (;;) {
    const answer = await send("POST", path(name, "/batches"), { body, headers: { "Idempotency-Key": token() } });
    if (answer.status !== 202) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
