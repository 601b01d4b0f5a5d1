// Clone a study: the same candidates under the same settings, and nothing that was measured.

import { change, get, query, send, studyApi, token } from "../core/api.ts";
import type { Candidate, CandidatePage, Cell, Study } from "../core/types.ts";

const PAGE = 5_000;

export async function cloneStudy(study: Study, name: string, changes: object): Promise<void> {
  await change("PUT", studyApi(name), { ...study.configuration, ...changes });
  const list = await readAll(study.name);
  if (!list.length) return;
  await send("PUT", studyApi(name, "/candidates") + columnQuery(study), {
    body: JSON.stringify({ candidates: list.map((candidate) => rowOf(study, candidate)) }),
    type: "application/json",
    headers: { "Idempotency-Key": token() },
  });
  await switchOff(name, list);
}

async function readAll(name: string): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (;;) {
    const asked = query({ offset: found.length, limit: PAGE });
    const page = await get<CandidatePage>(studyApi(name, "/candidates") + asked);
    found.push(...page.candidates);
    if (!page.candidates.length || found.length >= page.total) return found;
  }
}

const keyOf = ({ columns }: Study) => columns.find(({ role }) => role === "key")?.name;

function rowOf(study: Study, { key, features, attributes }: Candidate): Record<string, Cell> {
  const named = keyOf(study);
  return { ...(named === undefined ? {} : { [named]: key }), ...features, ...attributes };
}

// What each column is, as the first upload said it.
function columnQuery(study: Study): string {
  const names = (wanted: (column: Study["columns"][number]) => boolean) =>
    study.columns.filter((column) => column.role !== "key" && wanted(column)).map(({ name }) => name);
  return query({
    key: keyOf(study),
    attribute: names(({ role }) => role === "attribute"),
    feature: names(({ role, expense }) => role === "feature" && Boolean(expense)),
    text: names(({ kind }) => kind === "text"),
    smiles: names(({ fingerprint }) => Boolean(fingerprint)),
    cost: study.columns.find(({ expense }) => expense === "cost")?.name,
    duration: study.columns.find(({ expense }) => expense === "duration")?.name,
  });
}

// What cannot be measured there cannot be measured here either; one request for each reason.
async function switchOff(name: string, list: Candidate[]): Promise<void> {
  const byReason = new Map<string, string[]>();
  for (const { key, available, reason } of list)
    if (!available) byReason.set(reason ?? "unavailable", [...(byReason.get(reason ?? "unavailable") ?? []), key]);
  for (const [reason, keys] of byReason)
    await change("PATCH", studyApi(name, "/candidates"), { keys, available: false, reason });
}
