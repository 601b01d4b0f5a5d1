// Ask for the next batch. A worker that asks again gets its open batch, so a second click does no harm.

import { send, studyApi, token } from "../core/api.ts";
import type { Batch } from "../core/types.ts";
import { ask } from "../parts/dialog.tsx";

const WORKER = "nextbatch:worker";
export const lastWorker = (): string => localStorage.getItem(WORKER) ?? "bench-1";
export const rememberWorker = (worker: string): void => localStorage.setItem(WORKER, worker);

type How = "free" | "most" | "exactly" | "least";

export function askForBatch(name: string, onDone: (batch: Batch) => void, worker = lastWorker()): void {
  ask({
    title: "Ask for a batch",
    text: "The server chooses which measurements are worth making at once, and how many, within what you say here.",
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
        name: "how",
        label: "How many measurements",
        options: [
          ["most", "at most this many"],
          ["exactly", "exactly this many"],
          ["least", "at least this many"],
        ],
        value: "most",
      },
      {
        name: "number",
        label: "Number",
        kind: "number",
        min: 1,
        step: "1",
        hint: "Leave empty to let the server decide within the limits of the study.",
      },
    ],
    act: async ({ worker: chosen = "", how, number }) => {
      rememberWorker(chosen);
      onDone(await nextBatch(name, chosen, number ? (how as How) : "free", Number(number)));
    },
  });
}

function sizes(how: How, number: number): object {
  if (how === "exactly") return { min_size: number, max_size: number };
  if (how === "least") return { min_size: number };
  return how === "most" ? { max_size: number } : {};
}

// 202 means that the batch is still being computed: ask again.
export async function nextBatch(name: string, worker: string, how: How = "free", number = 0): Promise<Batch> {
  const body = { worker, wait: 20, ...sizes(how, number) };
  for (;;) {
    const answer = await send("POST", studyApi(name, "/batches"), { body, headers: { "Idempotency-Key": token() } });
    if (answer.status !== 202) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
