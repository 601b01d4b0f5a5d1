// The history of batches: what each suggested, what came of it, and why it has its size. Any batch can be recomputed.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { benchPath, setSearch, useAddress } from "../../core/address.ts";
import { explain, send, studyApi } from "../../core/api.ts";
import { cell, count, fullTime, localised, number, outcome, plural, shortTime } from "../../core/format.ts";
import { useGet } from "../../core/hooks.ts";
import type { Batch, BatchBrief, Replayed, Suggestion, Verified } from "../../core/types.ts";
import { endedWords, expectedWords, isBetter, purposeWords, stateWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { boundWords } from "./batch_charts.tsx";
import { type Facts, NO_TRACE_YET, type Result, useFacts, useResults } from "./facts.ts";

interface Verdict {
  tone: string;
  words: string;
}

const failure = (error: unknown): Verdict => ({ tone: "bad", words: explain(error) });

function Chip({ verdict: { tone, words } }: { verdict: Verdict }) {
  if (!tone) return <span class="quiet small">{words}</span>;
  return (
    <span class={`chip ${tone}`}>
      {tone === "accent" && <Icon name="check" size={14} />}
      {words}
    </span>
  );
}

export default function Batches() {
  const facts = useFacts();
  const { search } = useAddress();
  const [verdicts, setVerdicts] = useState<Record<number, Verdict>>({});
  const results = useResults().data ?? [];
  const { batches } = facts.trace;
  if (facts.trace === NO_TRACE_YET) return <Loading part />;
  if (!batches.length) return <Empty icon="flask" title="No batch yet" text="Ask for a batch to start." />;
  const opened = search.getAll("open").map(Number);
  const turn = (number_: number) =>
    setSearch({
      open: (opened.includes(number_) ? opened.filter((other) => other !== number_) : [...opened, number_]).map(String),
    });
  const replay = async (number_: number) => {
    const put = (verdict: Verdict) => setVerdicts((last) => ({ ...last, [number_]: verdict }));
    put({ tone: "", words: "Computing …" });
    try {
      put(replayWords(await (await send("POST", studyApi(facts.name, `/batches/${number_}/replay`))).json()));
    } catch (error) {
      put(failure(error));
    }
  };
  return (
    <section class="card">
      <header>
        <h2>Batches</h2>
        <span class="quiet small">newest first</span>
        <span class="push" />
        <Verify name={facts.name} />
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Batches, scrollable">
        <table class="plain batches">
          <thead>
            <tr>
              <th scope="col">Batch</th>
              <th scope="col">Worker</th>
              <th scope="col" class="right">
                Results
              </th>
              {hasBest(facts.summary) && <th scope="col">Best of the batch</th>}
              <th scope="col">
                <Term name="size">Why this size</Term>
              </th>
              <th scope="col" class="right">
                <Term name="limit">Cautious limit then</Term>
              </th>
              <th scope="col">Issued</th>
              <th scope="col" class="right">
                <Term name="replay">Check</Term>
              </th>
            </tr>
          </thead>
          <tbody>
            {[...batches].reverse().map((batch) => (
              <Fragment key={batch.number}>
                <BatchRow
                  batch={batch}
                  facts={facts}
                  results={results}
                  open={opened.includes(batch.number)}
                  onTurn={() => turn(batch.number)}
                  verdict={verdicts[batch.number]}
                  onReplay={() => replay(batch.number)}
                />
                {opened.includes(batch.number) && <Inside batch={batch} facts={facts} results={results} />}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function replayWords(answer: Replayed): Verdict {
  if (answer.equal) return { tone: "accent", words: "identical, bit for bit" };
  const builds = answer.recorded_build === answer.this_build ? "" : " (computed by another version of the server)";
  return { tone: "warn", words: `differs in ${answer.differences.join(" and ")}${builds}` };
}

export function Verify({ name }: { name: string }) {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setVerdict({ tone: "", words: "Checking …" });
    try {
      const answer: Verified = await (await send("POST", studyApi(name, "/verify"))).json();
      setVerdict(
        answer.sound
          ? { tone: "accent", words: `All ${count(answer.events)} events are intact` }
          : { tone: "bad", words: `Event ${answer.broken_at} was altered` },
      );
    } catch (error) {
      setVerdict(failure(error));
    }
    setBusy(false);
  };
  return (
    <>
      <span class="small" role="status">
        {verdict && <Chip verdict={verdict} />}
      </span>
      <Term name="verify">
        <button type="button" class="small" disabled={busy} onClick={check}>
          Verify the ledger
        </button>
      </Term>
    </>
  );
}

interface RowProps {
  batch: BatchBrief;
  facts: Facts;
  results: Result[];
  open: boolean;
  onTurn: () => void;
  verdict: Verdict | undefined;
  onReplay: () => void;
}

// Of several quantities, or near a target, no single value is the best.
const hasBest = ({ quantities, direction }: Facts["summary"]) => quantities.length === 1 && direction !== "target";

// The best result of a batch, and whether nothing before it was as good.
function bestOf(number_: number, results: Result[], { direction }: Facts["summary"]) {
  const better = (a: Result, b: Result) => isBetter({ direction }, a.value ?? 0, b.value ?? 0);
  const known = results.filter(({ value }) => value !== null);
  const [first, ...others] = known.filter(({ batch }) => batch === number_);
  if (!first) return null;
  const best = others.reduce((last, result) => (better(result, last) ? result : last), first);
  const start = Math.min(first.observation, ...others.map(({ observation }) => observation));
  const before = known.filter(({ observation, batch }) => observation < start && batch !== number_);
  return { best, isNew: before.length > 0 && before.every((result) => better(best, result)) };
}

function BestOf({ batch, results, facts: { name, summary } }: { batch: number; results: Result[]; facts: Facts }) {
  const found = bestOf(batch, results, summary);
  if (!found) return <span class="quiet">–</span>;
  return (
    <>
      <b class="number nowrap">{outcome(found.best, summary.quantities)}</b>{" "}
      <span class="small breakable">
        <KeyLink study={name} id={found.best.key} />
      </span>
      {found.isNew && <span class="chip accent gap">new best</span>}
    </>
  );
}

function BatchRow({ batch, facts, results, open, onTurn, verdict, onReplay }: RowProps) {
  const came = results.filter((result) => result.batch === batch.number).length;
  const rescues = Object.entries(batch.degraded).map(([name, times]) => `${name} ${times}×`);
  return (
    <tr>
      <td>
        <button
          type="button"
          class="plain small"
          aria-expanded={open}
          aria-label={`Batch ${batch.number}, show its suggestions`}
          onClick={onTurn}
        >
          {open ? "▾" : "▸"}
          <b class="number">{` ${batch.number}`}</b>
        </button>
      </td>
      <td>
        <a href={benchPath(facts.name, batch.worker, batch.number)}>{batch.worker}</a>
        {batch.state === "open" && <span class="chip accent gap">open</span>}
      </td>
      <td class="right number nowrap" data-label="Results">{`${count(came)} of ${count(batch.size)}`}</td>
      {hasBest(facts.summary) && (
        <td data-label="Best of the batch">
          <BestOf batch={batch.number} results={results} facts={facts} />
        </td>
      )}
      <td class="why-size" data-label="Why this size">
        <span class={open ? "" : "clamp"}>
          {batch.size_words ? localised(batch.size_words) : endedWords(batch.ended)}
        </span>
        {rescues.length > 0 && (
          <span class="chip warn gap" title={`Numerical problems were worked around: ${rescues.join(", ")}`}>
            degraded
          </span>
        )}
      </td>
      <td class="right number bound" data-label="Cautious limit then">
        {boundWords(batch.regret_bound, facts.summary.unit)}
      </td>
      <td class="nowrap" data-label="Issued" title={fullTime(batch.created_at)}>
        {shortTime(batch.created_at)}
      </td>
      <td class="right">
        {verdict ? (
          <Chip verdict={verdict} />
        ) : (
          <button
            type="button"
            class="small"
            aria-label={`Compute batch ${batch.number} again and compare`}
            onClick={onReplay}
          >
            Replay
          </button>
        )}
      </td>
    </tr>
  );
}

function Inside({ batch, facts, results }: { batch: BatchBrief; facts: Facts; results: Result[] }) {
  const { data, error } = useGet<Batch>(studyApi(facts.name, `/batches/${batch.number}`), facts.summary.seq);
  return (
    <tr class="inner">
      <td colSpan={hasBest(facts.summary) ? 8 : 7}>
        {!data && <p class="quiet small">{error ? explain(error) : "Loading …"}</p>}
        <div class="why-list">
          {data?.suggestions.map((suggestion) => (
            <SuggestionLine key={suggestion.suggestion} suggestion={suggestion} facts={facts} results={results} />
          ))}
        </div>
        <p class="quiet small">
          {`The model had ${plural(batch.dictionary, "reference point")} and the effective dimension ${number(batch.effective_dimension, 3)}.`}
        </p>
      </td>
    </tr>
  );
}

const TONES: Record<string, string> = { observed: "accent", pending: "" };

interface LineProps {
  suggestion: Suggestion;
  facts: Facts;
  results: Result[];
}

function SuggestionLine({ suggestion, facts: { name, summary }, results }: LineProps) {
  const { key, state, replicates, why, features, suggestion: id } = suggestion;
  const values = results
    .filter((result) => result.suggestion === id)
    .map((result) => outcome(result, summary.quantities));
  const settings = Object.entries(features).map(([column, value]) => `${column} ${cell(value)}`);
  return (
    <div class="why">
      <KeyLink study={name} id={key} />
      <span class={`chip ${TONES[state] ?? "warn"}`}>{stateWords(state)}</span>
      {replicates > 1 && <span class="chip">{`${replicates}×`}</span>}
      {values.length > 0 && <b class="number">{values.join("; ")}</b>}
      <span class="quiet small whole">
        {purposeWords(why.words)}
        {why.mean !== null && ` Expected at the time: ${expectedWords(why, summary)}.`}
      </span>
      <span class="quiet small">
        {settings.slice(0, 6).join(" · ")}
        {settings.length > 6 && ` · ${settings.length - 6} more`}
      </span>
    </div>
  );
}
