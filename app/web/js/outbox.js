// Results on their way to the server. Each is stored in the browser first and sent, always with the same
// Idempotency-Key, until the server answers: whatever the network does, a value arrives once.
// The server refuses an implausible value. It then waits here with a question, until a person confirms or discards it.

import { Offline, query, send, study, token } from "./api.js";
import { me } from "./session.js";

const STORE = "nextbatch:outbox";
// Nothing is wrong with the report: signed out, too slow, too many requests.
const LATER = new Set([401, 408, 429]);
const PAUSES = [1000, 2000, 4000, 8000];
const IMPLAUSIBLE = ["implausible-value", "extreme-value"];
const listeners = new Set();
let running = false,
  failures = 0,
  timer = 0;

export function waiting(name) {
  return read().filter((item) => item.study === name);
}

// `place` is "B3-S1/2": suggestion and replicate. A new value replaces one that has not been sent yet.
export function put(name, place, report, words) {
  const items = read().filter((item) => !(item.study === name && item.place === place));
  write([...items, { study: name, place, report, words, token: token(), key: me()?.id, at: new Date().toISOString() }]);
  flush();
}

// Send an implausible value all the same. It is another request, so it has another Idempotency-Key.
export function confirm(name, place) {
  write(
    read().map((item) =>
      item.study === name && item.place === place
        ? { ...item, question: undefined, confirmed: true, token: token() }
        : item,
    ),
  );
  flush();
}

export function discard(name, place) {
  write(read().filter((item) => !(item.study === name && item.place === place)));
}

export function listen(act) {
  listeners.add(act);
  return () => listeners.delete(act);
}

export function resume() {
  failures = 0;
  flush();
}

async function flush() {
  if (running) return;
  running = true;
  clearTimeout(timer);
  try {
    for (let item = next(); item; item = next()) {
      const done = await attempt(item);
      if (!done) break;
    }
  } finally {
    running = false;
  }
}

const next = () =>
  me() ? read().find((item) => !item.refused && !item.question && (!item.key || item.key === me().id)) : undefined;

async function attempt(item) {
  try {
    const judgement = query({ implausible: item.confirmed ? "accept" : "refuse" });
    const answer = await send("POST", study(item.study, "/observations") + judgement, {
      body: item.report,
      headers: { "Idempotency-Key": item.token },
    });
    failures = 0;
    remove(item);
    tell({ saved: item, answer: await answer.json() });
    return true;
  } catch (error) {
    const later = error instanceof Offline || error.status >= 500 || LATER.has(error.status);
    if (later) {
      timer = setTimeout(flush, PAUSES[Math.min(failures++, PAUSES.length - 1)]);
      tell({ delayed: item });
      return false;
    }
    write(read().map((other) => (other.token === item.token ? { ...other, ...verdict(error) } : other)));
    return true;
  }
}

function verdict(error) {
  const message = error.errors?.[0]?.message ?? error.message;
  const implausible = error.errors?.length && error.errors.every((finding) => IMPLAUSIBLE.includes(finding.code));
  return implausible ? { question: message } : { refused: message };
}

const remove = (item) => write(read().filter((other) => other.token !== item.token));
const read = () => JSON.parse(localStorage.getItem(STORE) ?? "[]");

function write(items) {
  localStorage.setItem(STORE, JSON.stringify(items));
  tell({});
}

function tell(news) {
  for (const listener of listeners) listener(news);
}

addEventListener("online", resume);
