// One study: its title, then its parts. Everything follows the ledger live.

import "./details.ts";
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
import { useWall, WallButton } from "../../parts/wall.tsx";
import { askForBatch } from "../asking.tsx";
import { type Facts, FactsContext, NO_TRACE_YET } from "./facts.ts";
import { Overview } from "./overview.tsx";
import type { LaterPart } from "./parts.ts";

const TITLES = {
  overview: "Overview",
  results: "Results",
  candidates: "Candidates",
  insights: "Insights",
  map: "Map",
  batches: "Batches",
  events: "Timeline",
  forecast: "Forecast",
  settings: "Settings",
  audit: "Audit",
} satisfies Record<"overview" | LaterPart, string>;
type Part = keyof typeof TITLES;

type Later = typeof import("./parts.ts");

// The overview comes with the study; its other parts are one more file, read as soon as nothing else is waiting.
let later: Later | null = null;

function useLater(wanted: boolean): { parts: Later | null; error: unknown } {
  const [parts, setParts] = useState(later);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (parts) return;
    const load = () =>
      import("./parts.ts").then(
        (found) => {
          later = found;
          setParts(found);
        },
        () => setError(new Error("A part of the page could not be loaded. Reload the page.")),
      );
    if (wanted) return void load();
    const timer = setTimeout(load, LATER);
    return () => clearTimeout(timer);
  }, [parts, wanted]);
  return { parts, error };
}

const LATER = 3_000;

interface Read {
  study: StudyOut;
  summary: Summary;
  trace: Trace;
}

async function read(name: string, onHeadline: (read: Read) => void): Promise<Read> {
  const tracing = get<Trace>(studyApi(name, "/trace"));
  tracing.catch(() => {}); // awaited below, unless the others fail first
  const [study, summary] = await Promise.all([get<StudyOut>(studyApi(name)), get<Summary>(studyApi(name, "/summary"))]);
  onHeadline({ study, summary, trace: NO_TRACE_YET });
  return { study, summary, trace: await tracing };
}

const isSame = (last: Read, fresh: Read) =>
  last.summary === fresh.summary && last.study === fresh.study && last.trace !== NO_TRACE_YET;

export default function Study({ place }: { place: Place }) {
  const name = place.view === "study" ? place.study : "";
  const [facts, setFacts] = useState<Read | null>(null);
  const [error, setError] = useState<unknown>(null);
  const listeners = useRef(new Set<(event: LedgerEvent) => void>());
  useTitle(name);

  const look = useCallback(async () => {
    const fresh = await read(name, (headline) => setFacts((last) => last ?? headline));
    setError(null);
    setFacts((last) => (last && isSame(last, fresh) ? last : fresh));
  }, [name]);
  const soon = useDelayed(() => look().catch(() => {}), 120);

  const started = facts !== null && facts.trace !== NO_TRACE_YET;
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
  if (error && !started) return <Failed error={error} again={() => look().catch(setError)} />;
  if (!shared || place.view !== "study") return <Loading />;
  const part = partOf(place.part);
  return (
    <FactsContext.Provider value={shared}>
      <div class="page">
        <Heading facts={shared} />
        <Tabs name={name} shown={part} />
        <div class="part">
          {part === "overview" && !place.key ? <Overview /> : <LaterBody part={part} id={place.key} />}
        </div>
      </div>
      <Drawer />
    </FactsContext.Provider>
  );
}

const partOf = (asked: string): Part => (asked in TITLES ? (asked as Part) : "overview");

function LaterBody({ part, id }: { part: Part; id: string | undefined }) {
  const { parts, error } = useLater(true);
  if (error) return <Failed error={error} again={() => location.reload()} />;
  if (!parts) return <Loading part />;
  if (id) return <parts.CandidatePage id={id} />;
  const Body = parts.PARTS[part as LaterPart];
  return <Body />;
}

function Drawer() {
  const { search } = useAddress();
  const key = search.get("candidate");
  const { parts } = useLater(key !== null);
  if (!key || !parts) return null;
  return <parts.CandidateDrawer id={key} key={key} onClose={() => setSearch({ candidate: null })} />;
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

const LONG = 200; // characters; more of a description than that is one tap away

function Description({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  if (!text) return null;
  if (text.length <= LONG) return <p class="quiet">{text}</p>;
  return (
    <div>
      <p class={whole ? "quiet" : "quiet clamp"}>{text}</p>
      <button type="button" class="plain small flush" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        {whole ? "Show less" : "Show all"}
      </button>
    </div>
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
        <Description text={study.configuration.description ?? ""} />
      </div>
      <div class="row actions">
        <WallButton />
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
