// The public API, as any client sees it. Errors are problem documents and carry a stable code.

import { at } from "./address.ts";
import type { Finding } from "./types.ts";

export class Problem extends Error {
  status: number;
  code: string;
  errors: Finding[];
  constructor(status: number, body: { detail?: string; code?: string; errors?: Finding[] }) {
    super(body.detail || "The server refused the request.");
    this.status = status;
    this.code = body.code || "unknown";
    this.errors = body.errors || [];
  }
}

// The request never reached the server, or its answer never reached us.
export class Offline extends Error {
  code = "offline";
  constructor() {
    super("The server cannot be reached.");
  }
}

// Path → the last answer with its ETag: the same object again while nothing changed.
const seen = new Map<string, { etag: string; body: unknown }>();
let onSignedOut = () => {};
export const whenSignedOut = (act: () => void): void => {
  onSignedOut = act;
};

interface Sent {
  body?: unknown;
  type?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export async function send(method: string, path: string, { body, type, headers = {}, signal }: Sent = {}) {
  const json = body !== undefined && type === undefined;
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      signal,
      body: json ? JSON.stringify(body) : (body as BodyInit | undefined),
      headers: { ...(body === undefined ? {} : { "Content-Type": type ?? "application/json" }), ...headers },
      credentials: "same-origin",
    });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new Offline();
  }
  if (answer.ok) return answer;
  const problem = new Problem(answer.status, await answer.json().catch(() => ({})));
  if (answer.status === 401 && path.startsWith(at("v1"))) onSignedOut();
  throw problem;
}

// Answers that static/early.js asked for while the scripts were on their way; each is used once.
const early = (globalThis as { nextbatchEarly?: Map<string, Promise<Response | null>> }).nextbatchEarly;

async function takeEarly(path: string): Promise<Response | null> {
  const asked = early?.get(path);
  early?.delete(path);
  const answer = await asked;
  return answer?.ok ? answer : null;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  // The browser itself asks with If-None-Match.
  const answer = (await takeEarly(path)) ?? (await send("GET", path, { signal }));
  const etag = answer.headers.get("ETag");
  const known = seen.get(path);
  if (etag && known?.etag === etag) return known.body as T;
  const body = await answer.json();
  if (etag) seen.set(path, { etag, body });
  return body;
}

export function forget(): void {
  seen.clear();
  early?.clear();
}

export async function change<T = unknown>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const answer = await send(method, path, { body, headers: { "Idempotency-Key": token(), ...headers } });
  return answer.status === 204 ? (null as T) : answer.json();
}

// Every page of a list.
export async function* pages<T extends { next: number | null }>(
  path: string,
  limit = 1000,
  after = 0,
): AsyncGenerator<T> {
  let next: number | null = after;
  while (next !== null) {
    const page: T = await get<T>(`${path}${path.includes("?") ? "&" : "?"}after=${next}&limit=${limit}`);
    yield page;
    next = page.next;
  }
}

// Works on plain http, too, where browsers have no crypto.randomUUID.
export function token(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const v1 = (rest: string): string => at(`v1/${rest}`);
export const studyApi = (name: string, rest = ""): string => v1(`studies/${encodeURIComponent(name)}${rest}`);
export const candidateApi = (name: string, key: string): string =>
  studyApi(name, `/candidates/${key.split("/").map(encodeURIComponent).join("/")}`);

type Parameter = string | number | boolean | null | undefined | string[];

export function query(parameters: Record<string, Parameter>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of [value].flat()) search.append(name, String(item));
  }
  return search.size ? `?${search}` : "";
}

export const isOffline = (error: unknown): boolean => error instanceof Offline;
export const statusOf = (error: unknown): number => (error instanceof Problem ? error.status : 0);
export const codeOf = (error: unknown): string => (error as { code?: string })?.code ?? "";

export function explain(error: unknown): string {
  const found = error instanceof Problem ? error.errors.slice(0, 3).map((finding) => finding.message) : [];
  const words = (error as Error).message.replace(/ See `errors`\.$/, ""); // which follow here
  return [words || "An unexpected error occurred.", ...found].join(" ");
}
