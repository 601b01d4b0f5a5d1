// Who is signed in, and what the role allows. The server decides; the page only hides what it would refuse.

import { at } from "./address.ts";
import { forget, get, send, v1 } from "./api.ts";
import type { Key } from "./types.ts";

export type Scope = "read" | "report" | "correct" | "ask" | "manage" | "keys";

const SCOPES: Record<Key["role"], Scope[]> = {
  technician: ["read", "report"],
  client: ["read", "report", "ask"],
  dashboard: ["read"],
  scientist: ["read", "report", "correct", "ask", "manage"],
  admin: ["read", "report", "correct", "ask", "manage", "keys"],
};

let key: Key | null = null;

export const me = (): Key | null => key;
export const may = (scope: Scope): boolean => Boolean(key && SCOPES[key.role]?.includes(scope));

// Scripts cannot see the cookie. This note says that there was one, and whose: the page can begin before the server has
// said so again. It is no secret and opens nothing.
const NOTE = "nextbatch:signed-in";

export function begin(): "unknown" | "remembered" | "known" {
  const note = localStorage.getItem(NOTE);
  if (note === null) return "unknown";
  if (!note) return "remembered";
  key = JSON.parse(note) as Key;
  return "known";
}

export async function recall(): Promise<void> {
  remember(await get<Key>(v1("keys/me")));
}

function remember(fresh: Key): void {
  key = fresh;
  localStorage.setItem(NOTE, JSON.stringify(fresh));
  tellServer(true);
}

// The session's cookie is sent to the API alone. This one says to the document that somebody is signed in, so that it
// names the answers that its view will ask for. It opens nothing either.
function tellServer(signedIn: boolean): void {
  const days = signedIn ? 400 : 0;
  // biome-ignore lint/suspicious/noDocumentCookie: on plain http, browsers have no Cookie Store API
  document.cookie = `nextbatch_here=1; path=${at("")}; max-age=${days * 86_400}; samesite=strict`;
}

export async function signIn(plaintextKey: string, longer: boolean): Promise<void> {
  const answer = await send("POST", at("session"), { body: { key: plaintextKey.trim(), remember: longer } });
  remember(await answer.json());
  forget();
}

// Where people can sign on elsewhere: what that is called, or null. Whoever has just come back from there is signed in.
export async function singleSignOn(): Promise<string | null> {
  const answer = await send("GET", at("session/sso/status"));
  return ((await answer.json()) as { name: string | null }).name;
}

export async function isBack(): Promise<boolean> {
  const answer = await fetch(v1("keys/me"), { credentials: "same-origin" });
  if (answer.ok) remember(await answer.json());
  return answer.ok;
}

export async function signOut(): Promise<void> {
  await send("DELETE", v1("keys/me/session")).catch(() => undefined); // it may have ended already
  await send("DELETE", at("session"));
  forgetKey();
}

export function forgetKey(): void {
  key = null;
  localStorage.removeItem(NOTE);
  tellServer(false);
  forget();
}

// A key in an address, behind the #: browsers send that part to nobody. It fills the form in; a person signs in.
const MARK = "#key=";

export const signInAddress = (plaintextKey: string): string => `${location.origin}${at("")}${MARK}${plaintextKey}`;

export function takeScannedKey(): string {
  if (!location.hash.startsWith(MARK)) return "";
  const found = location.hash.slice(MARK.length);
  history.replaceState(null, "", location.pathname + location.search);
  return found;
}
