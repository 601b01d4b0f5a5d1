// One study: its title, then its parts. Everything follows the ledger live.

import "../../base.ts";
import type { ComponentType } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { benchPath, go, type Place, setSearch, studyPath, useAddress } from "../../core/address.ts";
import { get, studyApi } from "../../core/api.ts";
import { useDelayed, useTitle } from "../../core/hooks.ts";
import { follow } from "../../core/live.ts";
import { may } from "../../core/session.ts";
import type { LedgerEvent, Study as StudyOut, Summary, Trace } from "../../core/types.ts";
import { showStatus } from "../../parts/bar.tsx";
import { StateChip } from "../../parts/chips.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/states.tsx";
import { askForBatch } from "../asking.tsx";
import Batches from "./batches.tsx";
import { CandidateDrawer, CandidatePage } from "./candidate.tsx";
import Candidates from "./candidates.tsx";
import { type Facts, FactsContext } from "./facts.ts";
import Insights from "./insights.tsx";
import CandidateMap from "./map.tsx";
import { Overview } from "./overview.tsx";
import Results from "./results.tsx";
import Settings from "./settings.tsx";
import Timeline from "./timeline.tsx";

const TITLES = {
  overview: "Overview",
  results: "Results",
  candidates: "Candidates",
  insights: "Insights",
  map: "Map",
  batches: "Batches",
  events: "Timeline",
  settings: "Settings",
};
type Part = keyof typeof TITLES;

const PARTS: Record<Part, ComponentType> = {
  overview: Overview,
  results: Results,
  candidates: Candidates,
  insights: Insights,
  map: CandidateMap,
  batches: Batches,
  events: Timeline,
  settings: Settings,
};

interface Read {
  study: StudyOut;
  summary: Summary;
  trace: Trace;
}

async function read(name: string): Promise<Read> {
  const [study, summary, trace] = await Promise.all([
    get<StudyOut>(studyApi(name)),
    get<Summary>(studyApi(name, "/summary")),
    get<Trace>(studyApi(name, "/trace")),
  ]);
  return { study, summary, trace };
}

export default function Study({ place }: { place: Place }) {
  const name = place.view === "study" ? place.study : "";
  const [facts, setFacts] = useState<Read | null>(null);
  const [error, setError] = useState<unknown>(null);
  const listeners = useRef(new Set<(event: LedgerEvent) => void>());
  useTitle(name);

  const look = useCallback(async () => {
    const fresh = await read(name);
    setError(null);
    setFacts((last) => (last && last.summary === fresh.summary && last.study === fresh.study ? last : fresh));
  }, [name]);
  const soon = useDelayed(() => look().catch(() => {}), 120);

  const started = facts !== null;
  useEffect(() => {
    showStatus(null);
    if (!started) look().catch(setError);
  }, [look, started]);
  const seq = useRef(0);
  seq.current = facts?.summary.seq ?? 0;
  useEffect(() => {
    if (!started) return;
    const onChange = (event: LedgerEvent) => {
      for (const listener of listeners.current) listener(event);
      soon();
    };
    return follow(name, { seq: seq.current, look, onStatus: showStatus, onChange });
  }, [name, started, look, soon]);
  useWall();

  const onEvent = useCallback((act: (event: LedgerEvent) => void) => {
    listeners.current.add(act);
    return () => {
      listeners.current.delete(act);
    };
  }, []);
  const shared = useMemo<Facts | null>(() => facts && { name, ...facts, look, onEvent }, [name, facts, look, onEvent]);
  if (error && !facts) return <Failed error={error} again={() => look().catch(setError)} />;
  if (!shared || place.view !== "study") return <Loading />;
  const part = partOf(place.part);
  const Body = PARTS[part];
  return (
    <FactsContext.Provider value={shared}>
      <div class="page">
        <Heading facts={shared} />
        <Tabs name={name} shown={part} />
        <div class="part">{place.key ? <CandidatePage id={place.key} /> : <Body />}</div>
      </div>
      <Drawer />
    </FactsContext.Provider>
  );
}

const partOf = (asked: string): Part => (asked in TITLES ? (asked as Part) : "overview");

function Drawer() {
  const { search } = useAddress();
  const key = search.get("candidate");
  return key ? <CandidateDrawer id={key} key={key} onClose={() => setSearch({ candidate: null })} /> : null;
}

function Tabs({ name, shown }: { name: string; shown: Part }) {
  const current = useRef<HTMLAnchorElement>(null);
  // Whenever another part is shown.
  useEffect(() => current.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [shown]);
  return (
    <nav class="tabs" aria-label="Parts of the study">
      {Object.entries(TITLES).map(([key, title]) => (
        <a
          key={key}
          ref={key === shown ? current : undefined}
          href={studyPath(name, key === "overview" ? "" : key)}
          aria-current={key === shown ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function Heading({ facts }: { facts: Facts }) {
  const { name, study, summary, look } = facts;
  const askable = may("ask") && summary.state === "active" && !summary.finished && summary.counts.available > 0;
  const open = () =>
    askForBatch(name, (batch) => {
      look();
      go(benchPath(name, batch.worker));
    });
  return (
    <div class="head tall">
      <div class="titles">
        <div class="row">
          <h1>{name}</h1>
          <StateChip summary={summary} />
        </div>
        {study.configuration.description && <p class="quiet">{study.configuration.description}</p>}
      </div>
      <div class="row actions">
        <button
          type="button"
          class="plain icon wall-button"
          aria-label="Wall screen"
          title="Wall screen"
          onClick={turnWall}
        >
          <Icon name="wall" />
        </button>
        {may("report") && (
          <a class="button" href={benchPath(name)}>
            <Icon name="flask" />
            Bench
          </a>
        )}
        {askable && (
          <button type="button" class="primary" onClick={open}>
            Ask for a batch
          </button>
        )}
      </div>
    </div>
  );
}

async function turnWall() {
  const root = document.documentElement;
  if ("wall" in root.dataset) {
    delete root.dataset.wall;
    if (document.fullscreenElement) await document.exitFullscreen();
  } else {
    root.dataset.wall = "";
    await root.requestFullscreen?.().catch(() => {});
  }
  dispatchEvent(new Event("themechange"));
}

// Escape and the end of full screen leave the wall, and so does leaving the study.
function useWall() {
  useEffect(() => {
    const leave = () => {
      delete document.documentElement.dataset.wall;
    };
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && leave();
    const onScreen = () => document.fullscreenElement || leave();
    addEventListener("keydown", onKey);
    addEventListener("fullscreenchange", onScreen);
    return () => {
      leave();
      removeEventListener("keydown", onKey);
      removeEventListener("fullscreenchange", onScreen);
    };
  }, []);
}
