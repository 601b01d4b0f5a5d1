// Addresses: where the page is mounted, which view an address means, and how to get to another.

import { useEffect, useState } from "preact/hooks";

// "/" or, behind a proxy, something like "/lab/": the scripts are in `<root>web/`.
export const ROOT = new URL("..", import.meta.url).pathname;

export const at = (path: string): string => ROOT + path.replace(/^\//, "");

export type Place =
  | { view: "studies" | "create" | "compare" | "people" | "missing" }
  | { view: "help"; guide?: string }
  | { view: "study"; study: string; part: string; key?: string }
  | { view: "bench"; study: string; worker?: string };

const ROUTES: [RegExp, (parts: string[]) => Place][] = [
  [/^$/, () => ({ view: "studies" })],
  [/^create$/, () => ({ view: "create" })],
  [/^compare$/, () => ({ view: "compare" })],
  [/^people$/, () => ({ view: "people" })],
  [/^help(?:\/([a-z]+))?$/, ([guide]) => ({ view: "help", guide })],
  [/^studies\/([^/]+)\/bench(?:\/([^/]+))?$/, ([study = "", worker]) => ({ view: "bench", study, worker })],
  [
    /^studies\/([^/]+)\/candidates\/(.+)$/,
    ([study = "", key]) => ({ view: "study", study, part: "candidates", key: key ?? "" }),
  ],
  [/^studies\/([^/]+)(?:\/([a-z]+))?$/, ([study = "", part]) => ({ view: "study", study, part: part ?? "" })],
];

export function placeOf(pathname: string): Place {
  const path = pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : pathname.slice(1);
  for (const [pattern, make] of ROUTES) {
    const parts = pattern.exec(path)?.slice(1);
    if (parts) return make(parts.map((part) => part && decodeURIComponent(part)));
  }
  return { view: "missing" };
}

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

export function go(path: string, { replace = false } = {}): void {
  if (path !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", path);
  tell();
}

// Links are plain links; a click on one of ours changes the view without a new page.
export function followLinks(): void {
  addEventListener("popstate", tell);
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const address = new URL(link.href);
    if (address.origin !== location.origin || link.hash || !address.pathname.startsWith(ROOT)) return;
    if (placeOf(address.pathname).view === "missing") return;
    event.preventDefault();
    go(address.pathname + address.search);
    if (placeOf(address.pathname).view !== "study") scrollTo({ top: 0 });
  });
}

// The address, and a redraw whenever it changes.
export function useAddress(): { place: Place; search: URLSearchParams } {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return { place: placeOf(location.pathname), search: new URLSearchParams(location.search) };
}

// Keeps what a view shows in its address, so that it can be sent to a colleague. Empty values are left out.
export function setSearch(changes: Record<string, string | string[] | null>): void {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    search.delete(name);
    for (const item of [value ?? []].flat()) if (item !== "") search.append(name, item);
  }
  const text = search.toString();
  go(location.pathname + (text ? `?${text}` : ""), { replace: true });
}

const encoded = (text: string) => encodeURIComponent(text);
export const studyPath = (name: string, part = ""): string => at(`studies/${encoded(name)}${part ? `/${part}` : ""}`);
export const candidatePath = (name: string, key: string): string =>
  studyPath(name, `candidates/${key.split("/").map(encoded).join("/")}`);
export const benchPath = (name: string, worker?: string, batch?: number): string =>
  `${studyPath(name, "bench")}${worker ? `/${encoded(worker)}` : ""}${batch ? `?batch=${batch}` : ""}`;
