// The overview: what is known in a sentence, what to do next, then how it went.

import type { ComponentChildren } from "preact";
import { benchPath } from "../../core/address.ts";
import { ago, count, estimated, localised, measured, number, percent, plural, withUnit } from "../../core/format.ts";
import { objectivesOf } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Certificate, Front, Quantity, Summary } from "../../core/types.ts";
import { finishedWords, improvement } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Fitted } from "../../parts/fitted.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { UploadCandidates } from "../upload.tsx";
import { BoundChart, SizesChart } from "./batch_charts.tsx";
import { NO_TRACE_YET, useFacts } from "./facts.ts";
import { FrontCard, HypervolumeChart } from "./front.tsx";
import { NextStep } from "./next_step.tsx";
import { ProgressChart } from "./progress_chart.tsx";
import { ReservedCard } from "./reserving.tsx";
import { SpendingStatistic } from "./spending.tsx";

export function Overview() {
  const facts = useFacts();
  const { name, summary, look } = facts;
  if (!summary.counts.candidates)
    return (
      <Empty
        icon="file"
        title="No candidates yet"
        text={
          may("manage")
            ? "Upload the list of candidates, then ask for the first batch."
            : "The owner of the study has not uploaded the list of candidates yet."
        }
      >
        {may("manage") && <UploadCandidates name={name} onDone={look} first />}
      </Empty>
    );
  return (
    <>
      <div class="headline">
        <Sentence summary={summary} />
      </div>
      <NextStep />
      {summary.front && summary.quantities.length > 1 && <FrontCard front={summary.front} />}
      <Statistics summary={summary} />
      {facts.trace === NO_TRACE_YET ? <Loading part /> : <Charts />}
    </>
  );
}

function Charts() {
  const { summary, trace } = useFacts();
  const { front } = summary;
  const compromises = objectivesOf(summary).length > 1;
  return (
    <div class="charts">
      <ProgressChart />
      {front && compromises && <Volume />}
      {!front && <Bound />}
      <section class={front && !compromises ? "card wide no-wall" : "card no-wall"}>
        <header>
          <h2>
            <Term name="size">Batch sizes</Term>
          </h2>
          {trace.batches.some(({ ended }) => ended === "rule") && (
            <span class="quiet small">dark: the next choice needs these results</span>
          )}
        </header>
        <SizesChart />
      </section>
      <InProgress summary={summary} />
      <ReservedCard />
    </div>
  );
}

function Bound() {
  const { summary } = useFacts();
  const estimate = summary.outlook?.remaining_gain?.upper;
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="limit">A cautious limit on what is left to gain</Term>
        </h2>
        <span class="quiet small">
          {estimate == null
            ? "batch by batch"
            : `It holds for all candidates at once. Today's estimate is lower: ${improvement(estimate, summary.unit)}.`}
        </span>
      </header>
      <BoundChart />
    </section>
  );
}

function Volume() {
  const { summary } = useFacts();
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="hypervolume">Volume under the front</Term>
        </h2>
        <span class="quiet small">
          {`${objectivesOf(summary)
            .map(({ name }) => name)
            .join(" × ")}; it grows when a result extends the front`}
        </span>
      </header>
      <HypervolumeChart />
    </section>
  );
}

function Sentence({ summary }: { summary: Summary }) {
  const { best_observed: best, certificate: sure, headline, finished, name } = summary;
  const named = summary.front?.measured ?? (best ? [best] : []);
  return (
    <>
      <p class="best">
        <WithLinks text={headline} study={name} keys={named.map(({ key }) => key)} />
      </p>
      {sure && <Assumptions certificate={sure} />}
      {finished && (
        <p class="note good">{`The study is finished: ${finishedWords(finished)}. You can still report results.`}</p>
      )}
    </>
  );
}

// The words of the server, in which the keys of candidates lead to them.
function WithLinks({ text, study, keys }: { text: string; study: string; keys: string[] }) {
  const parts: ComponentChildren[] = [];
  let rest = text;
  for (;;) {
    const found = keys.map((key) => ({ key, at: rest.search(wordPattern(key)) })).filter(({ at }) => at >= 0);
    const [first] = found.sort((a, b) => a.at - b.at || b.key.length - a.key.length);
    if (!first) break;
    parts.push(localised(rest.slice(0, first.at)), <KeyLink study={study} id={first.key} />);
    rest = rest.slice(first.at + first.key.length);
  }
  return (
    <>
      {parts}
      {localised(rest)}
    </>
  );
}

// A key as a word of its own: A1 is not found in A10.
const wordPattern = (key: string) => new RegExp(`(?<![\\w-])${key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-])`);

function Assumptions({ certificate }: { certificate: Certificate }) {
  return (
    <details class="small quiet">
      <summary>Assumptions</summary>
      <ul>
        {certificate.assumptions.map((assumption) => (
          <li key={assumption}>{localised(assumption)}</li>
        ))}
      </ul>
    </details>
  );
}

function Statistics({ summary }: { summary: Summary }) {
  const { counts, best_predicted: predicted, certificate: sure, outlook, unit, name } = summary;
  const gain = outlook?.remaining_gain;
  const off = counts.candidates - counts.available;
  return (
    <div class="stats">
      {summary.front && <FrontStatistics front={summary.front} summary={summary} />}
      {gain && (
        <Stat
          label={<Term name="improvement">Still to gain</Term>}
          value={improvement(gain.upper, unit === "%" ? "" : unit)}
          detail={`${unit === "%" ? "percentage points, " : ""}${percent(0.95)} probability; ${estimated(gain.expected)} expected`}
        />
      )}
      {sure && !outlook && (
        <div class="stat">
          <span class="quiet small">
            <Term name="improvement">Still to gain</Term>
          </span>
          <Fitted>{improvement(sure.regret_bound, unit === "%" ? "" : unit)}</Fitted>
          <span class="quiet small">
            {`${unit === "%" ? "percentage points, " : ""}${percent(sure.confidence)} confidence${sure.estimate ? ", estimate" : ""}`}
          </span>
        </div>
      )}
      {predicted && !summary.front && (
        <div class="stat">
          <span class="quiet small">
            <Term name="expected">Predicted best</Term>
          </span>
          <Fitted>{measured(predicted.mean, predicted.std, unit)}</Fitted>
          <span class="small clip">
            <KeyLink study={name} id={predicted.key} />
          </span>
        </div>
      )}
      <Stat
        label="Candidates measured"
        value={count(counts.measured)}
        detail={`of ${count(counts.candidates)}${off ? `, ${count(off)} unavailable` : ""}`}
      />
      <Stat label="Results" value={count(counts.observations)} detail={plural(counts.batches, "batch", "batches")} />
      <Stat
        label="Pending"
        value={count(counts.pending)}
        detail={[
          plural(summary.open_batches.length, "open batch", "open batches"),
          counts.reserved ? `${count(counts.reserved)} reserved` : "",
        ]
          .filter(Boolean)
          .join(", ")}
      />
      {summary.spending && <SpendingStatistic spending={summary.spending} />}
      {outlook?.chance_best_is_measured != null && (
        <Stat
          label="Chance that the best is already measured"
          value={percent(outlook.chance_best_is_measured)}
          detail={othersWords(outlook.candidates_still_possible)}
        />
      )}
    </div>
  );
}

// The recommended candidate is among those that can be the best; the headline counts the others, and so does this.
function othersWords(possible: number | null): string {
  if (possible === null) return "";
  return possible === 1 ? "no other is likely to be better" : `${plural(possible - 1, "other")} can still be better`;
}

function FrontStatistics({ front, summary }: { front: Front; summary: Summary }) {
  const [only, another] = objectivesOf(summary);
  if (only && !another) return <BestStatistics front={front} objective={only} />;
  return (
    <>
      <Stat
        label="On the measured front"
        value={count(front.measured.length)}
        detail={front.feasible === null ? "" : `of ${count(front.feasible)} good enough`}
      />
      {front.possible !== null && (
        <Stat
          label="Can still be on the front"
          value={count(front.possible)}
          detail={front.estimate ? "by the fitted models" : `with ${percent(front.confidence ?? 0)} confidence`}
        />
      )}
      {front.hypervolume !== null && (
        <div class="stat">
          <span class="quiet small">
            <Term name="hypervolume">Volume under the front</Term>
          </span>
          <Fitted>{coveredWords(front)}</Fitted>
          <span class="quiet small">{front.gap === null ? "covered so far" : "of what it could be at most"}</span>
        </div>
      )}
    </>
  );
}

// How much of the largest possible front is covered; as a plain number only while nobody knows how large that is.
const coveredWords = ({ hypervolume, gap }: Front): string => {
  if (hypervolume === null) return "–";
  return gap === null ? number(hypervolume) : percent(hypervolume / (hypervolume + gap || 1));
};

// Of one objective with a target or with constraints: the best value that is good enough.
function BestStatistics({ front, objective }: { front: Front; objective: Quantity }) {
  const [best] = front.measured;
  return (
    <>
      <Stat
        label={`Best ${objective.name}`}
        value={best ? withUnit(number(best.values[objective.name]), objective.unit) : "–"}
        detail={front.measured.map(({ key }) => key).join(", ")}
      />
      {front.feasible !== null && (
        <Stat label="Good enough" value={count(front.feasible)} detail="measured candidates" />
      )}
      {front.possible !== null && (
        <Stat label="Can still be the best" value={count(front.possible)} detail="by the fitted models" />
      )}
    </>
  );
}

function Stat({ label, value, detail }: { label: ComponentChildren; value: string; detail: string }) {
  return (
    <div class="stat">
      <span class="quiet small">{label}</span>
      <Fitted>{value}</Fitted>
      <span class="quiet small">{detail}</span>
    </div>
  );
}

function InProgress({ summary }: { summary: Summary }) {
  return (
    <section class="card wide">
      <header>
        <h2>In progress</h2>
      </header>
      {!summary.open_batches.length && <p class="quiet">Nothing is being measured.</p>}
      <ul class="benches">
        {summary.open_batches.map(({ number: batch, worker, created_at, overdue, size, pending }) => (
          <li key={batch}>
            <a href={benchPath(summary.name, worker)}>{worker}</a>
            <span class="quiet small">{`batch ${batch}, ${ago(created_at)}`}</span>
            {overdue && <span class="chip warn">overdue</span>}
            <div class="track">
              <span style={{ width: `${(100 * (size - pending)) / size}%` }} />
            </div>
            <span class="number small">{`${size - pending} of ${size}`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
