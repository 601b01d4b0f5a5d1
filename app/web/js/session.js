// Who is signed in, and what the role allows. The server decides; the page only hides what it would refuse.

import { forget, get, send } from "./api.js";

const SCOPES = {
  technician: ["read", "report"],
  client: ["read", "report", "ask"],
  dashboard: ["read"],
  scientist: ["read", "report", "correct", "ask", "manage"],
  admin: ["read", "report", "correct", "ask", "manage", "keys"],
};

let key = null;

export const me = () => key;
export const may = (scope) => Boolean(key && SCOPES[key.role]?.includes(scope));

// Scripts cannot see the cookie. This note says that there was one, and saves a request that would be refused.
const NOTE = "nextbatch:signed-in";
export const wasSignedIn = () => localStorage.getItem(NOTE) !== null;

export async function recall() {
  key = await get("/v1/keys/me");
  return key;
}

export async function signIn(plaintextKey, remember) {
  const answer = await send("POST", "/session", { body: { key: plaintextKey.trim(), remember } });
  key = await answer.json();
  localStorage.setItem(NOTE, "");
  forget();
}

export async function signOut() {
  await send("DELETE", "/session");
  forgetKey();
}

export function forgetKey() {
  key = null;
  localStorage.removeItem(NOTE);
  forget();
}
