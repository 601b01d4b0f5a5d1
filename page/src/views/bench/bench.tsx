// The bench: one worker's batch, made for a tablet and gloves. Values are stored here before they are sent.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { benchPath, go, type Place, studyPath, useAddress } from "../../core/address.ts";
import { explain, get, studyApi } from "../../core/api.ts";
import { ago, plural, shortTime } from "../../core/format.ts";
import { useDelayed, useGet, useTitle } from "../../core/hooks.ts";
import { follow } from "../../core/live.ts";
import { listen, useWaiting } from "../../core/outbox.ts";
import { may } from "../../core/session.ts";
import type { Batch, Summary } from "../../core/types.ts";
import { finishedWords } from "../../core/words.ts";
import { showStatus } from "../../parts/bar.tsx";
import { toast } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { askForBatch, nextBatch, rememberWorker } from "../asking.tsx";
import { type BenchFacts, readBench } from "./facts.ts";
import { isPartly } from "./measurement.tsx";
import { OnPaper, PrintMenu } from "./printing.tsx";
import { BenchRow } from "./row.tsx";
import { Scanner } from "./scanner.tsx";
import { SheetTools } from "./sheet.tsx";

export default function Bench({ place }: { place: Place }) {
  if (place.view !== "bench") return null;
  return place.worker ? <OneBench name={place.study} worker={place.worker} /> : <AllBenches name={place.study} />;
}

function AllBenches({ name }: { name: string }) {
  const { data, error, reload } = useGet<Summary>(studyApi(name, "/summary"));
  useTitle(name);
  useEffect(() => showStatus(null), []);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading />;
  const asks = may("ask") && data.state === "active" && (
    <button
      type="button"
      class="primary"
      onClick={() => askForBatch(name, (batch) => go(benchPath(name, batch.worker)))}
    >
      Ask for a batch
    </button>
  );
  return (
    <div class="page narrow">
      <div class="head">
        <h1>Which bench?</h1>
      </div>
      {!data.open_batches.length && (
        <Empty
          icon="flask"
          title="No open batches"
          text={
            may("ask")
              ? "Ask for a batch to see what to measure next."
              : "Batches appear here when somebody asks for one."
          }
        >
          {asks || null}
        </Empty>
      )}
      <ul class="bench-list">
        {data.open_batches.map((batch) => (
          <li key={batch.number}>
            <a class="card" href={benchPath(name, batch.worker)}>
              <b>{batch.worker}</b>
              <span class="quiet">{`${batch.pending} of ${batch.size} to measure`}</span>
              <span class="quiet small">{`batch ${batch.number}, ${ago(batch.created_at)}`}</span>
              {batch.overdue && <span class="chip warn">overdue</span>}
            </a>
          </li>
        ))}
      </ul>
      {data.open_batches.length > 0 && <div class="row end">{asks}</div>}
    </div>
  );
}

function OneBench({ name, worker }: { name: string; worker: string }) {
  const { search } = useAddress();
  const number = Number(search.get("batch")) || null;
  const [facts, setFacts] = useState<BenchFacts | null>(null);
  const [error, setError] = useState<unknown>(null);
  const list = useRef<HTMLOListElement>(null);
  useTitle(worker, name);
  const look = useCallback(async () => {
    setFacts(await readBench(name, worker, number));
    setError(null);
  }, [name, worker, number]);
  useEffect(() => rememberWorker(worker), [worker]);
  useEffect(() => {
    look().catch(setError);
  }, [look]);
  useNews(name, facts, look);
  useGreeting(list, facts);
  if (error && !facts) return <Failed error={error} again={() => look().catch(setError)} />;
  if (!facts) return <Loading />;
  const { batch } = facts;
  const show = search.get("show");
  if (batch && show) return <OnPaper name={name} worker={worker} facts={facts} batch={batch} show={show} />;
  const focusKey = (key: string) =>
    focusRow(rowsOf(list).filter((row) => row.dataset.key?.toLowerCase() === key.toLowerCase()));
  return (
    <div class="page narrow bench">
      <div class="bench-head">
        <div class="titles">
          <h1>{worker}</h1>
          {batch && <p class="quiet">{headWords(name, batch, facts)}</p>}
        </div>
        {batch && (
          <div class="row actions no-print">
            {may("report") && (
              <SheetTools name={name} batch={batch} quantities={facts.summary.quantities} onSaved={look} />
            )}
            <PrintMenu />
          </div>
        )}
      </div>
      {batch?.state === "open" && <Scanner find={focusKey} />}
      <Unsaved name={name} />
      {batch && (
        <ol class="bench-rows" ref={list}>
          {batch.suggestions.map((suggestion) => (
            <BenchRow
              key={suggestion.suggestion}
              suggestion={suggestion}
              facts={facts}
              name={name}
              onScanned={focusKey}
              onSaved={(element) => focusRow(after(rowsOf(list), element))}
              look={look}
            />
          ))}
        </ol>
      )}
      <Foot facts={facts} name={name} worker={worker} look={look} />
      <Earlier facts={facts} name={name} worker={worker} />
    </div>
  );
}

function headWords(name: string, batch: Batch, facts: BenchFacts): string {
  const partly = batch.suggestions.filter((suggestion) => isPartly(suggestion, facts)).length;
  const done = batch.suggestions.filter((suggestion) => suggestion.state !== "pending").length - partly;
  const rest = partly ? `, ${partly} partly` : "";
  const all = plural(batch.suggestions.length, "candidate");
  return `${name} · batch ${batch.number} · ${done} of ${all} done${rest}`;
}

const rowsOf = (list: { current: HTMLOListElement | null }) => [...(list.current?.children ?? [])] as HTMLElement[];
const field = (row: HTMLElement) => row.querySelector<HTMLInputElement>(".entry input:not(:disabled)");

// The rows after one, then those before it.
function after(rows: HTMLElement[], element: HTMLElement): HTMLElement[] {
  const position = rows.indexOf(element);
  return [...rows.slice(position + 1), ...rows.slice(0, position)].filter(field);
}

// Go to the first row that wants a value; if none does, to the first.
function focusRow(rows: HTMLElement[]): boolean {
  const row = rows.find(field) ?? rows[0];
  if (!row) return false;
  const target = field(row) ?? row.querySelector<HTMLElement>("button");
  row.scrollIntoView({ block: "center" });
  target?.focus();
  if (target instanceof HTMLInputElement) target.select();
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), 1200);
  return true;
}

// Go to where work begins. On a touch screen only scroll there: its keyboard would cover half of the screen.
function useGreeting(list: { current: HTMLOListElement | null }, facts: BenchFacts | null) {
  const greeted = useRef(false);
  useEffect(() => {
    if (!facts || greeted.current) return;
    greeted.current = true;
    if (document.activeElement !== document.body && document.activeElement?.id !== "content") return;
    const row = rowsOf(list).find(field);
    if (!row) return;
    if (matchMedia("(hover: hover)").matches) focusRow([row]);
    else if (row.previousElementSibling) row.scrollIntoView({ block: "center" });
  }, [facts, list]);
}

function useNews(name: string, facts: BenchFacts | null, look: () => Promise<void>) {
  const soon = useDelayed(() => look().catch(() => {}), 100);
  const started = facts !== null;
  const seq = useRef(0);
  seq.current = facts?.summary.seq ?? 0;
  useEffect(() => listen((news) => news.saved && soon()), [soon]);
  useEffect(() => {
    if (!started) return;
    // readBench falls back to the stored copy, so it cannot tell whether the server answers.
    const reach = async () => {
      await get(studyApi(name, "/summary"));
      await look();
    };
    return follow(name, { seq: seq.current, look: reach, onStatus: showStatus, onChange: soon });
  }, [name, started, look, soon]);
}

function Unsaved({ name }: { name: string }) {
  const unsaved = useWaiting(name).filter((item) => !item.refused && !item.doubt).length;
  return (
    <div class="unsaved" role="status">
      {unsaved > 0 && (
        <p class="note warn">
          <b>{`${plural(unsaved, "value")} not yet saved.`}</b> This device keeps what you typed and sends it as soon as
          the server can be reached.
        </p>
      )}
    </div>
  );
}

interface FootProps {
  facts: BenchFacts;
  name: string;
  worker: string;
  look: () => Promise<void>;
}

function Foot({ facts, name, worker, look }: FootProps) {
  const { batch, summary } = facts;
  if (!batch)
    return (
      <footer class="bench-foot">
        <Empty
          icon="flask"
          title="Nothing to measure"
          text={summary.counts.candidates ? "This bench has no open batch." : "The study has no candidates yet."}
        >
          <Next summary={summary} name={name} worker={worker} look={look} />
          <a class="button" href={studyPath(name)}>
            Go to the study
          </a>
        </Empty>
      </footer>
    );
  if (batch.state === "open") return null;
  const newest = facts.history.at(-1)?.number === batch.number;
  return (
    <footer class="bench-foot">
      <section class="done">
        <Icon name="check" size={40} />
        <h2>{`Batch ${batch.number} is complete`}</h2>
        <p class="quiet">
          {batch.suggestions.some((suggestion) => isPartly(suggestion, facts))
            ? "Every candidate has a result. You can still report the quantities that are missing, or correct values."
            : "Thank you. You can still correct values above."}
        </p>
        {newest ? (
          <Next summary={summary} name={name} worker={worker} look={look} />
        ) : (
          <a class="button" href={benchPath(name, worker)}>
            Go to the newest batch
          </a>
        )}
      </section>
    </footer>
  );
}

function Next({ summary, name, worker, look }: Omit<FootProps, "facts"> & { summary: Summary }) {
  const [busy, setBusy] = useState(false);
  if (summary.finished) return <p class="note good">{`The study is finished: ${finishedWords(summary.finished)}.`}</p>;
  if (summary.state !== "active") return <p class="note">{`The study is ${summary.state}.`}</p>;
  if (!may("ask")) return <p class="quiet">The next batch appears here when somebody asks for it.</p>;
  const next = async () => {
    setBusy(true);
    try {
      await nextBatch(name, worker);
      await look();
      scrollTo({ top: 0 });
    } catch (problem) {
      toast(explain(problem), "bad");
    }
    setBusy(false);
  };
  return (
    <button type="button" class="primary large" disabled={busy} onClick={next}>
      {busy ? "Choosing the next batch …" : "Ask for the next batch"}
    </button>
  );
}

function Earlier({ facts: { history, batch }, name, worker }: Omit<FootProps, "look">) {
  const others = history.filter((other) => other.number !== batch?.number).reverse();
  if (!others.length) return null;
  return (
    <details class="earlier no-print">
      <summary>{`Earlier batches of ${worker} (${others.length})`}</summary>
      <ul class="benches">
        {others.map((other) => (
          <li key={other.number}>
            <a href={benchPath(name, worker, other.number)}>{`Batch ${other.number}`}</a>
            <span class="quiet small">{`${plural(other.size, "measurement")}, ${shortTime(other.created_at)}`}</span>
            {other.state === "open" && <span class="chip accent">open</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
