// The overview: what is known in a sentence, what to do next, then how it went.

import type { ComponentChildren } from "preact";
import { benchPath } from "../../core/address.ts";
import { ago, count, measured, number, percent, plural, withUnit } from "../../core/format.ts";
import { may } from "../../core/session.ts";
import type { Certificate, Front, Summary } from "../../core/types.ts";
import { finishedWords, improvement } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Empty } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { UploadCandidates } from "../upload.tsx";
import { BoundChart, ModelChart, SizesChart } from "./batch_charts.tsx";
import { useFacts } from "./facts.ts";
import { FrontCard, HypervolumeChart } from "./front.tsx";
import { NextStep } from "./next_step.tsx";
import { ProgressChart } from "./progress_chart.tsx";

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
      <Statistics summary={summary} />
      <div class="charts">
        {summary.front && <FrontCard front={summary.front} />}
        <ProgressChart />
        {summary.front ? <Volume /> : <Bound />}
        <section class="card">
          <header>
            <h2>
              <Term name="size">Batch sizes</Term>
            </h2>
            <span class="quiet small">dark: the next choice needs these results</span>
          </header>
          <SizesChart />
        </section>
        <InProgress summary={summary} />
        <details class="card wide secondary">
          <summary>About the model</summary>
          <p class="quiet small">
            The model is built on <Term name="reference">reference points</Term>. The{" "}
            <Term name="dimension">effective dimension</Term> grows as the results explore new directions.
          </p>
          <ModelChart />
        </details>
      </div>
    </>
  );
}

function Bound() {
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="improvement">How much better another candidate could be</Term>
        </h2>
        <span class="quiet small">at most</span>
      </header>
      <BoundChart />
    </section>
  );
}

function Volume() {
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="hypervolume">Volume under the front</Term>
        </h2>
        <span class="quiet small">it grows with every step forward</span>
      </header>
      <HypervolumeChart />
    </section>
  );
}

function Sentence({ summary }: { summary: Summary }) {
  const { best_observed: best, certificate: sure, headline, finished, name } = summary;
  if (!best) return <p class="best">{headline}</p>;
  return (
    <>
      <p class="best">
        <WithLinks text={headline} study={name} keys={summary.front?.measured.map(({ key }) => key) ?? [best.key]} />
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
    parts.push(rest.slice(0, first.at), <KeyLink study={study} id={first.key} />);
    rest = rest.slice(first.at + first.key.length);
  }
  return (
    <>
      {parts}
      {rest}
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
          <li key={assumption}>{assumption}</li>
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
      {summary.front && <FrontStatistics front={summary.front} />}
      {gain && (
        <Stat
          label="Still to gain"
          value={`≤ ${withUnit(number(gain.upper, 2), unit === "%" ? "pp" : unit)}`}
          detail={`with 95 % probability; ${number(gain.expected, 2)} expected`}
        />
      )}
      {sure && !gain && (
        <div class="stat">
          <span class="quiet small">
            <Term name="improvement">Possible improvement</Term>
          </span>
          <strong class="number">{improvement(sure.regret_bound, unit === "%" ? "" : unit)}</strong>
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
          <strong class="number">{measured(predicted.mean, predicted.std, unit)}</strong>
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
        detail={plural(summary.open_batches.length, "open batch", "open batches")}
      />
      {outlook?.chance_best_is_measured != null && (
        <Stat
          label="Chance that the best is already measured"
          value={percent(outlook.chance_best_is_measured)}
          detail={
            outlook.candidates_still_possible == null
              ? ""
              : `${plural(outlook.candidates_still_possible, "candidate")} could still be the best`
          }
        />
      )}
    </div>
  );
}

function FrontStatistics({ front }: { front: Front }) {
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
          <strong class="number">{number(front.hypervolume)}</strong>
          <span class="quiet small">{front.gap === null ? "" : `at most ${number(front.gap, 3)} more`}</span>
        </div>
      )}
    </>
  );
}

function Stat({ label, value, detail }: { label: string; value: string; detail: string }) {
  return (
    <div class="stat">
      <span class="quiet small">{label}</span>
      <strong class="number">{value}</strong>
      <span class="quiet small clip">{detail}</span>
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
