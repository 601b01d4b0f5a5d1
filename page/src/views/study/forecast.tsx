// How many experiments will I need? Studies simulated on what is measured, against random choice, with their spread.

import { useEffect, useState } from "preact/hooks";
import { change, pages, studyApi } from "../../core/api.ts";
import { ago, difference, differenceUnit, number, percent, plural, withUnit } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import { isSeveral } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Backtest, BacktestPage } from "../../core/types.ts";
import { Swatch } from "../../parts/chips.tsx";
import { toast } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Complaint, Empty, Failed, Loading } from "../../parts/states.tsx";
import { Headings } from "../../parts/table.tsx";
import { Term } from "../../parts/term.tsx";
import { BacktestChart, choiceName } from "./backtest_chart.tsx";
import { useFacts } from "./facts.ts";
import { GOALS } from "./settings_form.ts";

const FEWEST = 3;
const EVERY = 1_500;

export default function Forecast() {
  const { name, summary } = useFacts();
  const [round, setRound] = useState(0);
  const { data, error, reload } = useRead(() => readAll(name), [name, round]);
  const running = data?.some(isRunning) ?? false;
  useEffect(() => {
    if (!running) return;
    const timer = setTimeout(() => setRound((last) => last + 1), EVERY);
    return () => clearTimeout(timer);
  }, [running, data]);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  if (isSeveral(summary))
    return (
      <Empty
        icon="chart"
        title="One objective only"
        text="A forecast simulates studies with one objective and no constraint. Fork this study with one of its objectives to make one."
      />
    );
  if (summary.counts.measured < FEWEST)
    return (
      <Empty
        icon="chart"
        title="Too few results"
        text={`A forecast simulates studies on candidates whose results are known. It needs at least ${FEWEST} of them.`}
      />
    );
  return (
    <div class="stack wide-stack">
      {may("manage") && <Start onStarted={reload} />}
      {!data.length && !may("manage") && <p class="quiet">There is no forecast yet.</p>}
      {[...data].reverse().map((backtest) => (
        <Shown backtest={backtest} onChange={reload} key={backtest.number} />
      ))}
    </div>
  );
}

async function readAll(name: string): Promise<Backtest[]> {
  const all: Backtest[] = [];
  for await (const page of pages<BacktestPage>(studyApi(name, "/backtests"), 100)) all.push(...page.backtests);
  return all;
}

const isRunning = ({ state }: Backtest) => state === "waiting" || state === "running";

// "1, 5, 20" → [1, 5, 20]
function sizesIn(text: string): number[] {
  const sizes = text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number);
  if (!sizes.length || sizes.length > 5 || sizes.some((size) => !Number.isInteger(size) || size < 1))
    throw new Error("Write one to five batch sizes as whole numbers, such as 1, 5, 20.");
  return sizes;
}

function Start({ onStarted }: { onStarted: () => void }) {
  const { name, summary, study } = useFacts();
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const values = new FormData(event.target as HTMLFormElement);
    const text = (field: string) => String(values.get(field) ?? "").trim();
    const orNull = (field: string) => (text(field) ? Number(text(field)) : null);
    setBusy(true);
    setProblem(null);
    try {
      await change("POST", studyApi(name, "/backtests"), {
        batch_sizes: sizesIn(text("sizes")),
        seeds: Number(text("seeds")),
        within: orNull("within"),
        measurements: orNull("measurements"),
        configuration: text("goal") === study.configuration.goal ? {} : { goal: text("goal") },
      });
      toast("The forecast is being computed. Asks and reports do not wait for it.");
      onStarted();
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  };
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="forecast">How many experiments will I need?</Term>
        </h2>
      </header>
      <p class="quiet">
        {`The results of ${plural(summary.counts.measured, "candidate")} are known. The server repeats the study on these candidates many times, each time from another start, and counts the measurements until one is good enough. Expect the next study of this kind to take about as many.`}
      </p>
      <form class="fields top" onSubmit={submit}>
        <Field name="sizes" label="Batch sizes to compare" value="1, 5" hint="Up to five, such as 1, 5, 20." required />
        <Field name="seeds" label="Simulated studies of each" kind="number" min={1} value={10} required />
        <Field
          name="within"
          label={withUnit("Good enough: within", summary.unit && `(${differenceUnit(summary.unit)})`)}
          kind="number"
          min={0}
          step="any"
          hint="Of the best. Empty: 5 % of the range of the results."
        />
        <Field
          name="measurements"
          label="Most measurements"
          kind="number"
          min={1}
          hint="Empty: 100, or all that are known."
        />
        <Field name="goal" label="Goal" options={Object.entries(GOALS)} value={study.configuration.goal ?? "best"} />
        <div class="field end-field">
          <button type="submit" class="primary" disabled={busy}>
            Simulate
          </button>
        </div>
      </form>
      <Complaint error={problem} />
    </section>
  );
}

const STATES: Record<Backtest["state"], string> = {
  waiting: "waiting for another forecast to end",
  running: "being computed",
  finished: "",
  cancelled: "cancelled",
  failed: "failed",
};

function Shown({ backtest, onChange }: { backtest: Backtest; onChange: () => void }) {
  const { name } = useFacts();
  const { number: own, state, done, total, result, problem } = backtest;
  const cancel = async () => {
    await change("POST", studyApi(name, `/backtests/${own}/cancel`));
    onChange();
  };
  return (
    <section class="card" aria-label={`Forecast ${own}`}>
      <header>
        <h2>{`Forecast ${own}`}</h2>
        <span class="quiet small">{[ago(backtest.created_at), STATES[state]].filter(Boolean).join(" · ")}</span>
        <span class="push" />
        {isRunning(backtest) && may("manage") && (
          <button type="button" class="small" onClick={cancel}>
            Cancel
          </button>
        )}
      </header>
      {isRunning(backtest) && (
        <div class="progress" role="status">
          <div class="track">
            <span style={{ width: `${(100 * done) / Math.max(1, total)}%` }} />
          </div>
          <span class="small quiet number">{`${done} of ${plural(total, "simulated study", "simulated studies")}`}</span>
        </div>
      )}
      {problem && <p class="note bad">{problem}</p>}
      {result && <Result backtest={backtest} result={result} />}
    </section>
  );
}

function Result({ backtest, result }: { backtest: Backtest; result: NonNullable<Backtest["result"]> }) {
  const { name, summary } = useFacts();
  const { unit, objective } = summary;
  const goal = `within ${difference(result.within, unit)} of the best known ${objective} (${withUnit(number(result.best), unit)})`;
  return (
    <>
      <p class="big-words">{sentence(result)}</p>
      <p class="quiet small">
        {`Measurements until ${goal}; ${plural(backtest.seeds, "simulated study", "simulated studies")} of each kind on ${plural(result.candidates, "candidate")} with results.`}
      </p>
      <BacktestChart
        result={result}
        unit={unit}
        objective={objective}
        picture={`${name}-forecast-${backtest.number}`}
      />
      <div class="scroll" tabIndex={0} role="region" aria-label="Measurements needed, scrollable">
        <table class="plain">
          <Headings
            titles={["How the candidates are chosen", "Typically", "Four of five studies", "Reached the goal"]}
          />
          <tbody>
            {result.choices.map((choice, position) => (
              <tr key={choiceName(choice)}>
                <td>
                  <Swatch line={choice.choice === "random" ? "dashed" : position} />
                  <b>{choiceName(choice)}</b>
                </td>
                <td class="number">{neededWords(choice.needed.median, backtest.measurements)}</td>
                <td class="number">
                  {`${neededWords(choice.needed.low, backtest.measurements)} to ${neededWords(choice.needed.high, backtest.measurements)}`}
                </td>
                <td class="number">{percent(choice.needed.reached)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const neededWords = (needed: number | null, most: number): string =>
  needed === null ? `more than ${most}` : String(needed);

// The best way of choosing beside random choice.
function sentence({ choices }: NonNullable<Backtest["result"]>): string {
  const guided = choices.filter(({ choice, needed }) => choice === "study" && needed.median !== null);
  const [best] = guided.sort((a, b) => (a.needed.median ?? 0) - (b.needed.median ?? 0));
  const random = choices.find(({ choice }) => choice === "random");
  if (!best) return "None of the simulated studies came close enough within the measurements allowed.";
  const beside = random?.needed.median == null ? "more than were simulated" : `about ${random.needed.median}`;
  return `About ${plural(best.needed.median ?? 0, "measurement")} ${best.batch_size === 1 ? "one at a time" : `in batches of ${best.batch_size}`}; random choice needs ${beside}.`;
}
