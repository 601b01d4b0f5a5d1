// Candidates with what the model says of each.

import { candidateApi, get, query, studyApi } from "../../core/api.ts";
import type { Candidate, CandidatePage, Prediction } from "../../core/types.ts";

export type Believed = Candidate & { belief: Prediction | null };

// The posterior comes as a list beside the candidates.
export const joined = (page: CandidatePage): Believed[] =>
  page.candidates.map((candidate, position) => ({ ...candidate, belief: page.posterior?.[position] ?? null }));

// One candidate with its prediction: in the list's own order, a candidate stands where its number says.
export async function readBelieved(name: string, key: string): Promise<Believed> {
  const candidate = await get<Candidate>(candidateApi(name, key));
  const place = query({ posterior: true, offset: candidate.number, limit: 1 });
  const [found] = joined(await get<CandidatePage>(studyApi(name, "/candidates") + place));
  return { ...candidate, belief: found?.key === key ? found.belief : null };
}
