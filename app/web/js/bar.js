// The bar at the top: the study, the connection, light or dark, and who is signed in.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { me, signOut } from "./session.js";

const WORDS = {
  live: "Live",
  polling: "No live connection; refreshing every few seconds",
  offline: "Not connected",
  "": "Connecting",
};
const SHORT = { live: "Live", polling: "Not live", offline: "Offline", "": "…" };

const status = h("span.live", { role: "status" });

export function showStatus(word) {
  status.hidden = word === null;
  status.dataset.status = word ?? "";
  status.title = WORDS[word ?? ""];
  status.textContent = SHORT[word ?? ""];
}

export function showBar(trail, onSignedOut) {
  const key = me();
  const brand = h(
    "a.brand",
    { href: "/", "aria-label": "Nextbatch, all studies" },
    h("img", { src: "/web/icon.svg", alt: "", width: 26, height: 26 }),
    h("span", "Nextbatch"),
  );
  const leave =
    key &&
    h(
      "button.plain.icon",
      {
        "aria-label": "Sign out",
        title: "Sign out",
        onclick: async () => {
          await signOut();
          onSignedOut();
        },
      },
      icon("out"),
    );
  fill(
    document.getElementById("bar"),
    brand,
    trail.map(([text, href]) => h("a.trail", { href }, text)),
    h("span.push"),
    key && status,
    key && h("span.who", `${key.name} · ${key.role}`),
    themeButton(),
    leave,
  );
}

function themeButton() {
  const root = document.documentElement;
  const isDark = () =>
    (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = h("button.plain.icon", {
    onclick: () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      localStorage.setItem("nextbatch:theme", root.dataset.theme);
      paint();
      dispatchEvent(new Event("themechange"));
    },
  });
  const paint = () => {
    const label = isDark() ? "Use light colours" : "Use dark colours";
    button.setAttribute("aria-label", label);
    button.title = label;
    fill(button, icon(isDark() ? "sun" : "moon"));
  };
  paint();
  return button;
}
