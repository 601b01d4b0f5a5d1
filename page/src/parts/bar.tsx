// The bar at the top: the study, the connection, light or dark, help, and who is signed in.

import { useEffect, useState } from "preact/hooks";
import { at, benchPath, type Place, studyPath } from "../core/address.ts";
import type { Status } from "../core/live.ts";
import { may, me, signOut } from "../core/session.ts";
import { Icon } from "./icon.tsx";

const WORDS = {
  live: "Live",
  polling: "No live connection; refreshing every few seconds",
  offline: "Not connected",
  "": "Connecting",
};
const SHORT = { live: "Live", polling: "Not live", offline: "Offline", "": "…" };

let tellStatus: (status: Status | null) => void = () => {};
export const showStatus = (status: Status | null): void => tellStatus(status);

function Connection() {
  const [status, setStatus] = useState<Status | null>(null);
  useEffect(() => {
    tellStatus = setStatus;
  }, []);
  return (
    <span class="live" role="status" data-status={status ?? ""} title={WORDS[status ?? ""]} hidden={status === null}>
      {SHORT[status ?? ""]}
    </span>
  );
}

export function Bar({ place, onSignedOut }: { place: Place | null; onSignedOut: () => void }) {
  const key = me();
  const leave = async () => {
    await signOut();
    onSignedOut();
  };
  return (
    <header class="bar">
      <a class="brand" href={at("")} aria-label="Nextbatch, all studies">
        <img src={at("web/icon.svg")} alt="" width={26} height={26} />
        <span>Nextbatch</span>
      </a>
      {place &&
        trail(place).map(([text, href]) => (
          <a class="trail" href={href} key={href}>
            {text}
          </a>
        ))}
      <span class="push" />
      {key && <Connection />}
      {key && <span class="who">{`${key.name} · ${key.role}`}</span>}
      {may("keys") && (
        <a class="button plain icon" href={at("people")} aria-label="People and keys" title="People and keys">
          <Icon name="people" />
        </a>
      )}
      {key && (
        <a class="button plain icon" href={at("help")} aria-label="Help" title="Help">
          <Icon name="help" />
        </a>
      )}
      <ThemeButton />
      {key && (
        <button type="button" class="plain icon" aria-label="Sign out" title="Sign out" onClick={leave}>
          <Icon name="out" />
        </button>
      )}
    </header>
  );
}

function trail(place: Place): [string, string][] {
  if (place.view === "create") return [["New study", at("create")]];
  if (place.view === "compare") return [["Compare", at("compare")]];
  if (place.view === "people") return [["People", at("people")]];
  if (place.view === "help") return [["Help", at("help")]];
  if (place.view !== "study" && place.view !== "bench") return [];
  const here: [string, string] = [place.study, studyPath(place.study)];
  if (place.view === "study") return [here];
  return [here, [place.worker ?? "Bench", benchPath(place.study, place.worker)]];
}

function ThemeButton() {
  const root = document.documentElement;
  const isDark = () =>
    (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const [dark, setDark] = useState(isDark);
  const turn = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("nextbatch:theme", root.dataset.theme);
    setDark(isDark());
    dispatchEvent(new Event("themechange"));
  };
  const label = dark ? "Use light colours" : "Use dark colours";
  return (
    <button type="button" class="plain icon" aria-label={label} title={label} onClick={turn}>
      <Icon name={dark ? "sun" : "moon"} />
    </button>
  );
}
