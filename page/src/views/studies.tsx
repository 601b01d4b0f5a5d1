// All studies at a glance: state, progress, best so far and how much better another could still be.

import { useCallback, useEffect, useState } from "preact/hooks";
import { Spark } from "../charts/spark.tsx";
import { at, benchPath, candidatePath, setSearch, studyPath, useAddress } from "../core/address.ts";
import { codeOf, get, pages, statusOf, studyApi } from "../core/api.ts";
import { ago, count, number, percent, plural, withUnit } from "../core/format.ts";
import { useTitle } from "../core/hooks.ts";
import type { Status } from "../core/live.ts";
import { objectivesOf } from "../core/quantities.ts";
import { may } from "../core/session.ts";
import type { Front, Study, StudyPage, Summary, Trace } from "../core/types.ts";
import { improvement, mostToGain } from "../core/words.ts";
import { showStatus } from "../parts/bar.tsx";
import { StateChip } from "../parts/chips.tsx";
import { Choices, Select } from "../parts/field.tsx";
import { Fitted } from "../parts/fitted.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { useWall, WallButton } from "../parts/wall.tsx";
import { openFork } from "./asking.tsx";
import { DeletedStudies } from "./deleted.tsx";
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

const tagsOf = ({ study }: Listed): readonly string[] => study.configuration.tags ?? [];
const everyTag = (all: Listed[]): string[] =>
  [...new Set(all.flatMap(tagsOf))].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));

interface Wanted {
  state: string;
  find: string;
  tag: string;
  sort: string;
}

function chosen(all: Listed[], { state, find, tag, sort }: Wanted): Listed[] {
  const order = SORTS.find(([key]) => key === sort)?.[2] ?? (() => 0);
  const sought = find.toLowerCase();
  return all
    .filter(({ study }) => state === "all" || (state === "archived") === (study.state === "archived"))
    .filter((listed) => !tag || tagsOf(listed).includes(tag))
    .filter((listed) => textOf(listed).toLowerCase().includes(sought))
    .sort(order);
}

const textOf = (listed: Listed) =>
  [listed.study.name, listed.study.configuration.description, ...tagsOf(listed)].join(" ");

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
  useWall();
  if (error && !all) return <Failed error={error} again={() => look().catch(setError)} />;
  if (!all) return <Loading />;
  const wanted = {
    state: search.get("state") ?? "open",
    find: search.get("find") ?? "",
    tag: search.get("tag") ?? "",
    sort: search.get("sort") ?? "",
  };
  return (
    <div class="page">
      <div class="head">
        <h1>Studies</h1>
        <span class="push" />
        {all.length > 0 && <WallButton />}
        {may("manage") && <ImportStudy />}
        {may("manage") && (
          <a class="button primary" href={at("create")}>
            New study
          </a>
        )}
      </div>
      {(all.length > 0 || may("manage")) && <Tools all={all} wanted={wanted} />}
      {wanted.state === "deleted" ? <DeletedStudies /> : <Cards all={all} wanted={wanted} />}
    </div>
  );
}

const MOST_ACROSS = 5; // on a wall, the cards fill the screen

function Cards({ all, wanted }: { all: Listed[]; wanted: Wanted }) {
  const shown = chosen(all, wanted);
  return (
    <div class="cards" style={{ "--across": Math.min(MOST_ACROSS, Math.ceil(Math.sqrt(shown.length || 1))) }}>
      {!all.length && <Nothing />}
      {all.length > 0 && !shown.length && <NoneShown {...wanted} />}
      {shown.map((listed) => (
        <Card {...listed} key={listed.study.name} />
      ))}
    </div>
  );
}

const WHICH: [string, string][] = [
  ["open", "Open"],
  ["archived", "Archived"],
  ["all", "All"],
];
const DELETED: [string, string] = ["deleted", "Deleted"];

function Tools({ all, wanted: { state, find, tag, sort } }: { all: Listed[]; wanted: Wanted }) {
  const tags = everyTag(all);
  return (
    <div class="row tools">
      <Choices
        label="Which studies"
        options={may("manage") ? [...WHICH, DELETED] : WHICH}
        value={state}
        onChange={(value) => setSearch({ state: value === "open" ? null : value })}
      />
      <input
        class="search"
        type="search"
        placeholder="Find a study"
        aria-label="Find a study"
        defaultValue={find}
        onInput={(event) => setSearch({ find: event.currentTarget.value })}
      />
      {tags.length > 0 && (
        <Select
          label="Tag"
          hideLabel
          options={[["", "every tag"], ...tags.map((word): [string, string] => [word, word])]}
          value={tag}
          onChange={(value) => setSearch({ tag: value })}
        />
      )}
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
  );
}

const same = (last: Listed[], fresh: Listed[]) =>
  last.length === fresh.length &&
  last.every((listed, position) => {
    const other = fresh[position];
    return (
      listed.study.version === other?.study.version &&
      listed.study.name === other?.study.name &&
      listed.summary === other.summary &&
      !listed.problem
    );
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

function NoneShown({ state, find, tag }: Wanted) {
  if (find)
    return <Empty icon="file" title="No studies here" text={`No name, description or tag contains “${find}”.`} />;
  if (tag) return <Empty icon="file" title="No studies here" text={`None of these studies has the tag “${tag}”.`} />;
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
        {may("manage") && (
          <button
            type="button"
            class="plain icon small above no-wall"
            aria-label={`Fork ${study.name}`}
            title="Fork: a new study that begins as this one is"
            onClick={() => openFork(study)}
          >
            <Icon name="fork" size={16} />
          </button>
        )}
      </header>
      {study.configuration.description && <p class="quiet small clamp">{study.configuration.description}</p>}
      {(study.configuration.tags ?? []).length > 0 && (
        <div class="row tags">
          {study.configuration.tags?.map((tag) => (
            <a class="chip above" href={`${at("")}?tag=${encodeURIComponent(tag)}`} key={tag}>
              {tag}
            </a>
          ))}
        </div>
      )}
      {problem && <p class="quiet">{problem}</p>}
      {summary && trace && <Figures study={study.name} summary={summary} trace={trace} />}
      {summary && <Progress counts={summary.counts} newest={last?.created_at} />}
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

function Figures({ study, summary, trace }: { study: string; summary: Summary; trace: Trace }) {
  const { best_observed: best, unit, counts } = summary;
  if (!counts.observations) return <p class="waiting-card">{beforeTheFirstResult(counts)}</p>;
  if (summary.front && objectivesOf(summary).length > 1) return <FrontFigures front={summary.front} trace={trace} />;
  if (!best) return <p class="waiting-card">Nothing measured meets the constraints yet.</p>;
  return (
    <div class="pair">
      <div class="figure">
        <span class="quiet small">{`Best ${summary.objective}`}</span>
        <Fitted>{withUnit(number(best.mean), unit)}</Fitted>
        <a class="small quiet number clip above" href={candidatePath(study, best.key)}>
          {best.key}
        </a>
        <Spark values={trace.progress.map((point) => point.best)} title="Best so far" step />
      </div>
      {summary.front ? (
        <Possible front={summary.front} label="Can still be the best" />
      ) : (
        <Gain {...{ summary, trace }} />
      )}
    </div>
  );
}

function Gain({ summary, trace }: { summary: Summary; trace: Trace }) {
  const { certificate, outlook, unit } = summary;
  const most = mostToGain(summary);
  const chance = outlook?.chance_best_is_measured ?? null;
  return (
    <div class="figure">
      <span class="quiet small">Still to gain</span>
      <Fitted>{most === null ? "–" : improvement(most, unit === "%" ? "" : unit)}</Fitted>
      <span class="small quiet number clip">{most !== null && gainDetail(summary)}</span>
      {chance === null ? (
        <Spark values={limitsOf(trace, certificate)} title="How much better another could be" tone="quiet" />
      ) : (
        <span class="small quiet chance">{`${percent(chance)} chance that the best is already measured`}</span>
      )}
    </div>
  );
}

// How the limit went, for a study whose limit is the number above; an estimate is made for today only.
const limitsOf = ({ batches }: Trace, certificate: Summary["certificate"]) => [
  ...batches.map((batch) => batch.regret_bound),
  certificate?.regret_bound ?? null,
];

function Possible({ front, label }: { front: Front; label: string }) {
  return (
    <div class="figure">
      <span class="quiet small">{label}</span>
      <Fitted>{front.possible === null ? "–" : count(front.possible)}</Fitted>
      <span class="small quiet">candidates</span>
    </div>
  );
}

const gainDetail = ({ unit, certificate }: Summary) =>
  unit === "%" ? "percentage points" : `${percent(certificate?.confidence ?? 0.95)} probability`;

function FrontFigures({ front, trace }: { front: Front; trace: Trace }) {
  return (
    <div class="pair">
      <div class="figure">
        <span class="quiet small">On the measured front</span>
        <Fitted>{count(front.measured.length)}</Fitted>
        <span class="small quiet number clip">{front.measured.map(({ key }) => key).join(", ")}</span>
        <Spark values={trace.hypervolume.map((point) => point.hypervolume)} title="Volume under the front" step />
      </div>
      <Possible front={front} label="Can still be on it" />
    </div>
  );
}

function beforeTheFirstResult({ candidates, pending }: Summary["counts"]): string {
  if (!candidates) return "No candidates yet.";
  if (!pending) return "Ready for its first batch.";
  return `${plural(pending, "measurement")} under way, no result yet.`;
}

function Progress({ counts, newest }: { counts: Summary["counts"]; newest: string | undefined }) {
  const share = counts.candidates ? counts.measured / counts.candidates : 0;
  const width = `${Math.max(share * 100, counts.measured ? 1 : 0)}%`;
  return (
    <div class="progress">
      <div class="track" role="img" aria-label={`${counts.measured} of ${counts.candidates} candidates measured`}>
        <span style={{ width }} />
      </div>
      <span class="small quiet number">
        {`${count(counts.measured)} of ${plural(counts.candidates, "candidate")} measured · ${plural(counts.observations, "result")}`}
        {newest && ` · newest batch ${ago(newest)}`}
      </span>
    </div>
  );
}
