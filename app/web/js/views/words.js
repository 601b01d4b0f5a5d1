// What the ledger says, in sentences.

import { get } from "../api.js";
import { exact, plural } from "../format.js";
import { may, me } from "../session.js";

const ENDED = {
  rule: "ended by the algorithm: more at once would be guesswork",
  size: "ended at the size asked for",
  exhausted: "ended because no candidate was left",
};
const BRIEFLY = { rule: "the algorithm’s own rule", size: "size asked for", exhausted: "no candidate left" };
export const endedBriefly = (ended) => BRIEFLY[ended] ?? ended;
export const endedWords = (ended) => ENDED[ended] ?? ended;

const names = new Map([["server", "the server"]]);

// Only admins may know what keys are called; for others a key's id has to do.
export async function learnNames() {
  if (!may("keys")) return;
  for (const key of (await get("/v1/keys")).keys) names.set(key.id, key.name);
}

export const actorWords = (id) => (id === me()?.id ? "you" : names.get(id) ?? `key ${id}`);

// [what, details]: for the timeline.
export function eventWords(event) {
  const payload = JSON.parse(event.payload);
  const tell = TELL[event.type];
  return tell ? tell(payload) : [event.type.replaceAll("-", " "), ""];
}

const TELL = {
  "study-created": () => ["Study created", ""],
  "study-changed": (payload) => [`Study changed, now ${payload.state}`, ""],
  "study-deleted": () => ["Study deleted", ""],
  "candidates-uploaded": (payload) => [`${plural(payload.rows, "candidate")} uploaded`, columnWords(payload)],
  "candidates-added": (payload) => [`${plural(payload.rows, "candidate")} added`, ""],
  "candidate-switched": (payload) => [`${payload.key} switched ${payload.available ? "on" : "off"}`, ""],
  "batch-issued": (payload) => [`Batch ${payload.number} for ${payload.worker}`, `${plural(sizeOf(payload), "measurement")} suggested; ${endedWords(payload.record.ended)}`],
  "observations-reported": (payload) => [reportTitle(payload.observations), payload.observations.slice(0, 12).map((one) => exact(one.value)).join("  ") + (payload.observations.length > 12 ? " …" : "")],
  "suggestions-resolved": (payload) => [`${plural(payload.suggestions.length, "suggestion")} ${payload.state}`, payload.suggestions.map((one) => `${one.batch}-${one.rank}${one.reason ? ` (${one.reason})` : ""}`).slice(0, 4).join(", ")],
  "observation-corrected": (payload) => [`Result ${payload.observation} corrected`, `now ${exact(payload.value)}`],
  "observation-retracted": (payload) => [`Result ${payload.observation} taken back`, ""],
};

function reportTitle(list) {
  const batches = [...new Set(list.map((one) => one.batch).filter(Boolean))];
  return `${plural(list.length, "result")} reported${batches.length ? ` for batch ${batches.join(", ")}` : ""}`;
}

const sizeOf = (payload) => payload.suggestions.reduce((sum, one) => sum + (one.replicates ?? 1), 0);
const columnWords = (payload) => payload.columns?.filter((one) => one.role === "feature").map((one) => one.name).slice(0, 8).join(", ") ?? "";
