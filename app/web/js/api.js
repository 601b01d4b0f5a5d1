// The public API, as any client sees it. Errors are problem documents and carry a stable code.

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || "The server refused the request.");
    this.status = status;
    this.code = body.code || "unknown";
    this.errors = body.errors || [];
    this.requestId = body.request_id;
  }
}

// The request never reached the server, or its answer never reached us.
export class Offline extends Error {
  constructor() {
    super("The server cannot be reached.");
    this.code = "offline";
  }
}

const seen = new Map(); // path → { etag, body }: the same object again while nothing changed
let onSignedOut = () => {};
export const whenSignedOut = (act) => {
  onSignedOut = act;
};

export async function send(method, path, { body, type, headers = {}, signal } = {}) {
  const json = body !== undefined && type === undefined;
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      body: json ? JSON.stringify(body) : body,
      headers: { ...(body === undefined ? {} : { "Content-Type": type ?? "application/json" }), ...headers },
      credentials: "same-origin",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Offline();
  }
  if (answer.ok) return answer;
  const problem = new Problem(answer.status, await answer.json().catch(() => ({})));
  if (answer.status === 401 && path.startsWith("/v1")) onSignedOut();
  throw problem;
}

export async function get(path, signal) {
  const answer = await send("GET", path, { signal }); // the browser itself asks with If-None-Match
  const etag = answer.headers.get("ETag");
  const known = seen.get(path);
  if (etag && known?.etag === etag) return known.body;
  const body = await answer.json();
  if (etag) seen.set(path, { etag, body });
  return body;
}

export const forget = () => seen.clear();

export async function change(method, path, body, headers = {}) {
  const answer = await send(method, path, { body, headers: { "Idempotency-Key": token(), ...headers } });
  return answer.status === 204 ? null : answer.json();
}

// Every page of a list.
export async function* pages(path, limit = 1000, after = 0) {
  let next = after;
  while (next !== null) {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}after=${next}&limit=${limit}`);
    yield page;
    next = page.next;
  }
}

// Works on plain http, too, where browsers have no crypto.randomUUID.
export function token() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const study = (name, rest = "") => `/v1/studies/${encodeURIComponent(name)}${rest}`;

export function query(parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of [value].flat()) search.append(name, item);
  }
  return search.size ? `?${search}` : "";
}
