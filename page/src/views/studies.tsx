// All studies at a glance: state, progress, best so far and how much better another could still be.

import { useCallback, useEffect, useState } from "preact/hooks";
import { Spark } from "../charts/spark.tsx";
import { at, benchPath, setSearch, studyPath, useAddress } from "../core/address.ts";
import { codeOf, get, pages, statusOf, studyApi } from "../core/api.ts";
import { ago, count, number, percent, plural, withUnit } from "../core/format.ts";
import { useTitle } from "../core/hooks.ts";
import type { Status } from "../core/live.ts";
import { may } from "../core/session.ts";
import type { Front, Study, StudyPage, Summary, Trace } from "../core/types.ts";
import { improvement } from "../core/words.ts";
import { showStatus } from "../parts/bar.tsx";
import { StateChip } from "../parts/chips.tsx";
import { Choices, Select } from "../parts/field.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { ImportStudy } from "./importing.tsx";

const EVERY = 4_000;

interface Listed {
  study: Study;
  summary: Summary | null;
  trace: Trace | null;
  problem: string;
}

async function readOne(study: Study): Promise<Listed> {
  try {
    const [summary, trace] = await Promise.all([
      get<Summary>(studyApi(study.name, "/summary")),
      get<Trace>(studyApi(study.name, "/trace")),
    ]);
    return { study, summary, trace, problem: "" };
  } catch (error) {
    if (codeOf(error) === "offline" || statusOf(error) === 401) throw error;
    return { study, summary: null, trace: null, problem: (error as Error).message };
  }
}

async function readAll(): Promise<Listed[]> {
  const all: Study[] = [];
  for await (const page of pages<StudyPage>(at("v1/studies"))) all.push(...page.studies);
  return Promise.all(all.reverse().map(readOne));
}

const SORTS: [string, string, (a: Listed, b: Listed) => number][] = [
  ["", "newest first", () => 0],
  ["active", "latest batch first", (a, b) => lastBatch(b).localeCompare(lastBatch(a))],
  ["name", "by name", (a, b) => a.study.name.localeCompare(b.study.name, undefined, { numeric: true })],
  ["results", "most results first", (a, b) => results(b) - results(a)],
];
const lastBatch = ({ trace }: Listed) => trace?.batches.at(-1)?.created_at ?? "";
const results = ({ summary }: Listed) => summary?.counts.observations ?? 0;

function chosen(all: Listed[], state: string, text: string, sort: string): Listed[] {
  const order = SORTS.find(([key]) => key === sort)?.[2] ?? (() => 0);
  const sought = text.toLowerCase();
  return all
    .filter(({ study }) => state === "all" || (state === "archived") === (study.state === "archived"))
    .filter(({ study }) => `${study.name} ${study.configuration.description}`.toLowerCase().includes(sought))
    .sort(order);
}

export default function Studies() {
  const { search } = useAddress();
  const [all, setAll] = useState<Listed[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  useTitle();
  const look = useCallback(async () => {
    const fresh = await readAll();
    setError(null);
    setAll((last) => (last && same(last, fresh) ? last : fresh));
  }, []);
  usePolling(look, setError);
  if (error && !all) return <Failed error={error} again={() => look().catch(setError)} />;
  if (!all) return <Loading />;
  const state = search.get("state") ?? "open";
  const sort = search.get("sort") ?? "";
  const shown = chosen(all, state, search.get("find") ?? "", sort);
  return (
    <div class="page">
      <div class="head">
        <h1>Studies</h1>
        <span class="push" />
        {may("manage") && <ImportStudy />}
        {may("manage") && (
          <a class="button primary" href={at("create")}>
            New study
          </a>
        )}
      </div>
      {all.length > 0 && (
        <div class="row tools">
          <Choices
            label="Which studies"
            options={[
              ["open", "Open"],
              ["archived", "Archived"],
              ["all", "All"],
            ]}
            value={state}
            onChange={(value) => setSearch({ state: value === "open" ? null : value })}
          />
          <input
            class="search"
            type="search"
            placeholder="Find a study"
            aria-label="Find a study"
            defaultValue={search.get("find") ?? ""}
            onInput={(event) => setSearch({ find: event.currentTarget.value })}
          />
          <Select
            label="Order"
            hideLabel
            options={SORTS.map(([key, words]) => [key, words])}
            value={sort}
            onChange={(value) => setSearch({ sort: value })}
          />
          <span class="push" />
          {all.length > 1 && (
            <a class="button" href={at("compare")}>
              Compare
            </a>
          )}
        </div>
      )}
      <div class="cards">
        {!all.length && <Nothing />}
        {all.length > 0 && !shown.length && <NoneShown state={state} text={search.get("find") ?? ""} />}
        {shown.map((listed) => (
          <Card {...listed} key={listed.study.name} />
        ))}
      </div>
    </div>
  );
}

const same = (last: Listed[], fresh: Listed[]) =>
  last.length === fresh.length &&
  last.every((listed, position) => {
    const other = fresh[position];
    return listed.study.name === other?.study.name && listed.summary === other.summary && !listed.problem;
  });

const statusOfError = (error: unknown) => (codeOf(error) === "offline" ? "offline" : "polling");

function usePolling(look: () => Promise<void>, onError: (error: unknown) => void) {
  useEffect(() => {
    let stopped = false;
    let timer = 0;
    const show = (status: Status) => {
      if (!stopped) showStatus(status);
    };
    const onFailure = (error: unknown) => {
      onError(error);
      show(statusOfError(error));
    };
    const again = async () => {
      await look().then(() => show("live"), onFailure);
      if (!stopped) timer = setTimeout(again, document.hidden ? EVERY * 5 : EVERY);
    };
    again();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [look, onError]);
}

function Nothing() {
  if (!may("manage"))
    return <Empty icon="flask" title="No studies yet" text="Studies that your key has access to appear here." />;
  return (
    <Empty
      icon="flask"
      title="No studies yet"
      text="A study starts with a list of candidates: a file with one row for each thing you could measure."
    >
      <a class="button primary" href={at("create")}>
        New study
      </a>
    </Empty>
  );
}

function NoneShown({ state, text }: { state: string; text: string }) {
  if (text) return <Empty icon="file" title="No studies here" text={`No name or description contains “${text}”.`} />;
  const why = state === "archived" ? "No study is archived." : "Every study is archived.";
  return <Empty icon="file" title="No studies here" text={why} />;
}

function Card({ study, summary, trace, problem }: Listed) {
  const last = trace?.batches.at(-1);
  return (
    <article class="card study-card">
      <header>
        <h2>
          <a class="cover" href={studyPath(study.name)}>
            {study.name}
          </a>
        </h2>
        {summary && <StateChip summary={summary} />}
        <span class="push" />
        {last && (
          <span class="small quiet" title="Newest batch">
            {ago(last.created_at)}
          </span>
        )}
      </header>
      {study.configuration.description && <p class="quiet small clamp">{study.configuration.description}</p>}
      {problem && <p class="quiet">{problem}</p>}
      {summary && trace && <Figures summary={summary} trace={trace} />}
      {summary && <Progress counts={summary.counts} />}
      {summary && summary.open_batches.length > 0 && (
        <div class="row benches">
          {summary.open_batches.slice(0, 6).map((batch) => (
            <a
              class={`chip above ${batch.overdue ? "warn" : "accent"}`}
              href={benchPath(study.name, batch.worker)}
              key={batch.number}
            >
              {`${batch.worker}: ${batch.size - batch.pending} of ${batch.size}`}
            </a>
          ))}
        </div>
      )}
    </article>
  );
}

function Figures({ summary, trace }: { summary: Summary; trace: Trace }) {
  const { certificate: sure, best_observed: best, unit, counts } = summary;
  if (!counts.observations) return <p class="waiting-card">{beforeTheFirstResult(counts)}</p>;
  if (summary.front) return <FrontFigures front={summary.front} trace={trace} />;
  if (!best) return <p class="waiting-card">{beforeTheFirstResult(counts)}</p>;
  const bounds = trace.batches.map((batch) => batch.regret_bound).filter((bound) => bound !== null);
  return (
    <div class="pair">
      <div class="figure">
        <span class="quiet small">{`Best ${summary.objective}`}</span>
        <strong class="number">{withUnit(number(best.mean), unit)}</strong>
        <span class="small quiet number clip">{best.key}</span>
        <Spark values={trace.progress.map((point) => point.best)} title="Best so far" step />
      </div>
      <div class="figure">
        <span class="quiet small">Possible improvement</span>
        <strong class="number">{sure ? improvement(sure.regret_bound, unit === "%" ? "" : unit) : "–"}</strong>
        <span class="small quiet number clip" title={sure ? `With ${percent(sure.confidence)} confidence` : ""}>
          {sure && (unit === "%" ? "percentage points" : "at most")}
        </span>
        <Spark values={sure ? [...bounds, sure.regret_bound] : bounds} title="Possible improvement" tone="quiet" />
      </div>
    </div>
  );
}

function FrontFigures({ front, trace }: { front: Front; trace: Trace }) {
  return (
    <div class="pair">
      <div class="figure">
        <span class="quiet small">On the measured front</span>
        <strong class="number">{plural(front.measured.length, "candidate")}</strong>
        <span class="small quiet number clip">{front.measured.map(({ key }) => key).join(", ")}</span>
        <Spark values={trace.hypervolume.map((point) => point.hypervolume)} title="Volume under the front" step />
      </div>
      <div class="figure">
        <span class="quiet small">Can still be on it</span>
        <strong class="number">{front.possible === null ? "–" : count(front.possible)}</strong>
        <span class="small quiet">candidates</span>
      </div>
    </div>
  );
}

function beforeTheFirstResult({ candidates, pending }: Summary["counts"]): string {
  if (!candidates) return "No candidates yet.";
  if (!pending) return "Ready for its first batch.";
  return `${plural(pending, "measurement")} under way, no result yet.`;
}

function Progress({ counts }: { counts: Summary["counts"] }) {
  const share = counts.candidates ? counts.measured / counts.candidates : 0;
  const width = `${Math.max(share * 100, counts.measured ? 1 : 0)}%`;
  return (
    <div class="progress">
      <div class="track" role="img" aria-label={`${counts.measured} of ${counts.candidates} candidates measured`}>
        <span style={{ width }} />
      </div>
      <span class="small quiet number">
        {`${count(counts.measured)} of ${plural(counts.candidates, "candidate")} measured · ${plural(counts.observations, "result")} · ${plural(counts.batches, "batch", "batches")}`}
      </span>
    </div>
  );
}
