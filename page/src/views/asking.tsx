// Ask for the next batch. A worker that asks again gets its open batch, so a second click does no harm.

import { explain, get, send, studyApi, token } from "../core/api.ts";
import type { AskBody, Batch, Preview, Study, Summary } from "../core/types.ts";
import { openDialog, toast } from "../parts/dialog.tsx";

const WORKER = "nextbatch:worker";
export const lastWorker = (): string => localStorage.getItem(WORKER) ?? "bench-1";
export const rememberWorker = (worker: string): void => localStorage.setItem(WORKER, worker);

// The dialog is read when it is first opened: the bench stays light.
export async function askForBatch(name: string, onDone: (batch: Batch) => void, worker = lastWorker()): Promise<void> {
  try {
    const [{ AskDialog }, study, summary] = await Promise.all([
      import("./ask/dialog.tsx"),
      get<Study>(studyApi(name)),
      get<Summary>(studyApi(name, "/summary")),
    ]);
    openDialog((close) => (
      <AskDialog study={study} summary={summary} worker={worker} onDone={onDone} onClose={close} />
    ));
  } catch (error) {
    toast(explain(error), "bad");
  }
}

// So is the dialog of a fork.
export async function openFork(study: Study, at?: number): Promise<void> {
  const { forkStudy } = await import("./forking.tsx");
  forkStudy(study, at);
}

export const nextBatch = (name: string, worker: string): Promise<Batch> => issue(name, { worker });
export const issue = (name: string, body: AskBody): Promise<Batch> =>
  post<Batch>(name, body, { "Idempotency-Key": token() });
export const previewOf = (name: string, body: AskBody): Promise<Preview> =>
  post<Preview>(name, { ...body, preview: true });

// 202 means that the batch is still being computed: ask again.
async function post<T>(name: string, body: AskBody, headers: Record<string, string> = {}): Promise<T> {
  for (;;) {
    const answer = await send("POST", studyApi(name, "/batches"), { body: { wait: 20, ...body }, headers });
    if (answer.status !== 202) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
