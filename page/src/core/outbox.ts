// Results on their way to the server. Each is stored in the browser first and sent, always with the same
// Idempotency-Key, until the server answers: whatever the network does, a value arrives once. A value that the server
// finds implausible waits for a person to say that it is meant.

import { useEffect, useState } from "preact/hooks";
import { Offline, Problem, send, studyApi, token } from "./api.ts";
import { me } from "./session.ts";

const STORE = "nextbatch:outbox";
const PAUSES = [1000, 2000, 4000, 8000];
const LATER = new Set([401, 408, 429]); // refusals that say nothing about the value
const MOST_WAIT = 30_000; // ms for an answer, before the value is sent again
// Refusals that end when a person says that the value is meant.
export const DOUBTS = ["implausible-value", "extreme-value", "outside-limits"];
export const MEANT = "implausible=accept&outside_limits=accept";

export interface Item {
  study: string;
  place: string; // "B3-S1/2": suggestion and replicate; "B3-S1/2/purity": one of several quantities
  report: Record<string, unknown>;
  words: string;
  token: string;
  key?: string;
  at: string;
  again?: { observation: number; version: number }; // a value that was taken back is entered anew: a correction
  meant?: boolean; // a person has confirmed an implausible value
  doubt?: string; // why the server wants that confirmation
  refused?: string;
}

export type News = { saved?: Item };

const listeners = new Set<(news: News) => void>();
let running = false;
let failures = 0;
let timer = 0;

export const waiting = (name: string): Item[] => read().filter((item) => item.study === name);

// A new value replaces one that has not been sent yet.
export function put(name: string, place: string, report: Item["report"], words: string, again?: Item["again"]): void {
  const others = read().filter((item) => !(item.study === name && item.place === place));
  const made: Item = {
    study: name,
    place,
    report,
    words,
    again,
    token: token(),
    key: me()?.id,
    at: new Date().toISOString(),
  };
  write([...others, made]);
  flush();
}

export function discard(name: string, place: string): void {
  write(read().filter((item) => !(item.study === name && item.place === place)));
}

// "Save 3150 anyway": the same value under a new token, since the old one has its answer.
export function confirm(name: string, place: string): void {
  const confirmed = (item: Item): Item => ({ ...item, meant: true, doubt: undefined, token: token() });
  write(read().map((item) => (item.study === name && item.place === place ? confirmed(item) : item)));
  flush();
}

export function listen(act: (news: News) => void): () => void {
  listeners.add(act);
  return () => listeners.delete(act);
}

// What is waiting for a study, and a redraw whenever that changes.
export function useWaiting(name: string): Item[] {
  const [items, setItems] = useState(() => waiting(name));
  useEffect(() => listen(() => setItems(waiting(name))), [name]);
  return items;
}

export function resume(): void {
  failures = 0;
  flush();
}

async function flush(): Promise<void> {
  if (running) return;
  running = true;
  clearTimeout(timer);
  try {
    for (let item = next(); item; item = next()) if (!(await attempt(item))) break;
  } finally {
    running = false;
  }
}

const settled = (item: Item) => item.refused !== undefined || item.doubt !== undefined;
const next = () => {
  const key = me();
  return key ? read().find((item) => !settled(item) && (!item.key || item.key === key.id)) : undefined;
};

async function attempt(item: Item): Promise<boolean> {
  const match: Record<string, string> = item.again ? { "If-Match": `"${item.again.version}"` } : {};
  const hanging = new AbortController();
  const end = setTimeout(() => hanging.abort(), MOST_WAIT);
  try {
    await send("POST", pathOf(item), {
      body: item.report,
      headers: { "Idempotency-Key": item.token, ...match },
      signal: hanging.signal,
    });
    failures = 0;
    write(read().filter((other) => other.token !== item.token));
    tell({ saved: item });
    return true;
  } catch (error) {
    const problem = error instanceof Problem ? error : null;
    if (error instanceof Offline || !problem || problem.status >= 500 || LATER.has(problem.status)) {
      timer = setTimeout(flush, PAUSES[Math.min(failures++, PAUSES.length - 1)]);
      tell({});
      return false;
    }
    write(read().map((other) => (other.token === item.token ? { ...other, ...verdict(problem) } : other)));
    return true;
  } finally {
    clearTimeout(end);
  }
}

function pathOf({ study, again, meant, report }: Item): string {
  if (again)
    return studyApi(study, `/observations/${again.observation}/corrections${meant ? "?outside_limits=accept" : ""}`);
  const measured = "value" in report || "values" in report;
  return `${studyApi(study, "/observations")}?${meant || !measured ? MEANT : "implausible=refuse"}`;
}

function verdict(problem: Problem): Partial<Item> {
  const [first] = problem.errors;
  const words = first?.message ?? problem.message;
  return first && problem.errors.every((finding) => DOUBTS.includes(finding.code))
    ? { doubt: words }
    : { refused: words };
}

const read = (): Item[] => JSON.parse(localStorage.getItem(STORE) ?? "[]");

function write(items: Item[]): void {
  localStorage.setItem(STORE, JSON.stringify(items));
  tell({});
}

function tell(news: News): void {
  for (const listener of listeners) listener(news);
}

addEventListener("online", resume);
