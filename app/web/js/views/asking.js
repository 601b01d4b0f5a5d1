// Ask for the next batch. A worker that asks again gets its open batch, so a second click does no harm.

import { study as path, send, token } from "../api.js";
import { ask } from "../parts.js";

const WORKER = "nextbatch:worker";
export const lastWorker = () => localStorage.getItem(WORKER) ?? "bench-1";
export const rememberWorker = (worker) => localStorage.setItem(WORKER, worker);

export function askForBatch(name, onDone, worker = lastWorker()) {
  ask({
    title: "Ask for a batch",
    text: "The server chooses how many measurements are worth making at once. You can set a limit.",
    confirm: "Ask",
    fields: [
      {
        name: "worker",
        label: "Worker",
        value: worker,
        hint: "The bench, robot or person that will measure.",
        required: true,
        pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}",
      },
      {
        name: "max",
        label: "At most",
        kind: "number",
        min: 1,
        step: 1,
        hint: "The largest number of measurements. Leave empty for the limit of the study.",
      },
    ],
    act: async ({ worker: chosen, max }) => {
      rememberWorker(chosen);
      onDone(await nextBatch(name, chosen, max ? Number(max) : null));
    },
  });
}

// 202 means that the batch is still being computed: ask again.
export async function nextBatch(name, worker, most = null) {
  const body = { worker, wait: 20, ...(most ? { max_size: most } : {}) };
  for (;;) {
    const answer = await send("POST", path(name, "/batches"), { body, headers: { "Idempotency-Key": token() } });
    if (answer.status !== 202) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
