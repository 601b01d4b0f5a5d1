// The server's codes as words: why a batch has its size, why a study is finished, who did something.

import { get } from "../api.js";
import { may, me } from "../session.js";

const ENDED = {
  rule: "the next choice needs these results",
  size: "the size requested",
  exhausted: "no candidates left",
  promise: "one more would promise little",
};
const FINISHED = {
  observations: "it has as many results as planned",
  date: "its end date has passed",
  regret_bound: "no candidate can be much better than the one recommended",
};
const STATES = { observed: "measured" };

export const endedWords = (ended) => ENDED[ended] ?? ended;
export const finishedWords = (rule) => FINISHED[rule] ?? rule;
export const stateWords = (state) => STATES[state] ?? state;

// "batch-issued" → "Batch issued"
export const typeWords = (type) => type.charAt(0).toUpperCase() + type.slice(1).replaceAll("-", " ");

const names = new Map([["server", "the server"]]);

// Only admins can read the names of keys; everybody else sees a key's id.
export async function learnNames() {
  if (!may("keys")) return;
  for (const key of (await get("/v1/keys")).keys) names.set(key.id, key.name);
}

export const actorWords = (id) => (id === me()?.id ? "you" : (names.get(id) ?? `key ${id}`));
