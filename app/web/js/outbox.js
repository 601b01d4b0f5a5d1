// Results on their way to the server. They are kept in the browser before they are sent, and sent until the server has
// answered, each always under its own Idempotency-Key: whatever the network does, a value arrives once.

import { Offline, send, study, token } from "./api.js";
import { me } from "./session.js";

const STORE = "nextbatch:outbox";
const PAUSES = [1000, 2000, 4000, 8000];
const listeners = new Set();
let running = false, failures = 0, timer = 0;

export function waiting(name) {
  return read().filter((item) => item.study === name);
}

// `place` is "3-1/2": suggestion and replicate. A new value for a place that still waits replaces the old one.
export function put(name, place, report, words) {
  const items = read().filter((item) => !(item.study === name && item.place === place));
  write([...items, { study: name, place, report, words, token: token(), key: me()?.id, at: new Date().toISOString() }]);
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

const next = () => (me() ? read().find((item) => !item.refused && (!item.key || item.key === me().id)) : undefined);

async function attempt(item) {
  try {
    const answer = await send("POST", study(item.study, "/observations"), { body: item.report, headers: { "Idempotency-Key": item.token } });
    failures = 0;
    remove(item);
    tell({ saved: item, answer: await answer.json() });
    return true;
  } catch (error) {
    const later = error instanceof Offline || error.status >= 500 || error.status === 401;
    if (later) {
      timer = setTimeout(flush, PAUSES[Math.min(failures++, PAUSES.length - 1)]);
      tell({ delayed: item });
      return false;
    }
    write(read().map((one) => (one.token === item.token ? { ...one, refused: error.errors?.[0]?.message ?? error.message } : one)));
    return true;
  }
}

const remove = (item) => write(read().filter((one) => one.token !== item.token));
const read = () => JSON.parse(localStorage.getItem(STORE) ?? "[]");

function write(items) {
  localStorage.setItem(STORE, JSON.stringify(items));
  tell({});
}

const tell = (news) => listeners.forEach((act) => act(news));

addEventListener("online", resume);
