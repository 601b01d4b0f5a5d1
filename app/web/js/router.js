// Addresses to views. Links are plain links; a click on one of ours changes the view without a new page.

const ROUTES = [
  [/^\/$/, "studies", []],
  [/^\/create$/, "create", []],
  [/^\/studies\/([^/]+)\/bench(?:\/([^/]+))?$/, "bench", ["study", "worker"]],
  [/^\/studies\/([^/]+)(?:\/([a-z]+))?$/, "study", ["study", "part"]],
];

export function match(path) {
  for (const [pattern, view, names] of ROUTES) {
    const found = pattern.exec(path);
    if (found)
      return {
        view,
        params: Object.fromEntries(names.map((name, i) => [name, found[i + 1] && decodeURIComponent(found[i + 1])])),
      };
  }
  return { view: "missing", params: {} };
}

let arrive = () => {};

export function start(onArrival) {
  arrive = onArrival;
  addEventListener("popstate", () => arrive());
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const address = new URL(link.href);
    if (address.origin !== location.origin || match(address.pathname).view === "missing" || link.hash) return;
    event.preventDefault();
    go(address.pathname + address.search);
  });
}

export function go(path, { replace = false } = {}) {
  if (path !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", path);
  arrive();
}

export const studyPath = (name, part = "") => `/studies/${encodeURIComponent(name)}${part ? `/${part}` : ""}`;
export const benchPath = (name, worker) =>
  `${studyPath(name, "bench")}${worker ? `/${encodeURIComponent(worker)}` : ""}`;
