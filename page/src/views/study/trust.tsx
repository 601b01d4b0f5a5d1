// Whether predictions can be trusted, in cards: predicted against observed, intervals, and surprises.

import { useMemo } from "preact/hooks";
import { studyPath } from "../../core/address.ts";
import { difference, measured, outcome, percent, plural } from "../../core/format.ts";
import { expectedOf } from "../../core/quantities.ts";
import type { Diagnostics, Summary } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Term } from "../../parts/term.tsx";
import { isSurprise, type Result, type Surprise, surpriseOf, useFacts } from "./facts.ts";
import { CalibrationCurve, type Judged, PredictedChart } from "./trust_charts.tsx";

const FEWEST = 3;

interface PredictedProps {
  results: Result[];
  diagnostics: Diagnostics;
  chosen: Set<string> | null;
}

export function Predicted({ results, diagnostics, chosen }: PredictedProps) {
  const { summary } = useFacts();
  const left = diagnostics.leave_one_out;
  const then = useMemo(() => judgedThen(results, summary.objective), [results, summary.objective]);
  const judged = left.length ? left : then;
  const inside = judged.filter(({ observed, lower, upper }) => observed >= lower && observed <= upper).length;
  return (
    <section class="card">
      <header>
        <h2>
          <Term name={left.length ? "leaveOneOut" : "calibration"}>Predicted against observed</Term>
        </h2>
      </header>
      <PredictedChart judged={judged} chosen={chosen} by={left.length ? "from all others" : "then"} />
      {judged.length >= FEWEST && (
        <p class="quiet small">
          {left.length
            ? `Each candidate as all the others predict it. ${percent(inside / judged.length)} of the results lie within their bar (about 95 % is right).`
            : `${percent(inside / judged.length)} of the results lay within twice the ± expected then (about 95 % is right).`}
        </p>
      )}
    </section>
  );
}

// Results beside what was expected of them when they were suggested.
function judgedThen(results: Result[], quantity: string): Judged[] {
  return results.flatMap(({ key, values, suggested }) => {
    const expected = expectedOf(suggested?.why, quantity);
    const observed = values[quantity]?.value;
    if (!expected || observed === undefined) return [];
    const { mean: predicted, std } = expected;
    return [{ key, observed, predicted, lower: predicted - 2 * std, upper: predicted + 2 * std }];
  });
}

export function Calibration({ points }: { points: Diagnostics["calibration"] }) {
  const worst = points.reduce(
    (gap, { says, covers }) => (Math.abs(covers - says) > Math.abs(gap) ? covers - says : gap),
    0,
  );
  const verdict = worst > 0 ? "The model is rather too careful." : "The model is rather too sure of itself.";
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="coverage">How often the intervals held</Term>
        </h2>
      </header>
      <CalibrationCurve points={points} />
      <p class="quiet small">
        {Math.abs(worst) < 0.15 ? "Close to the dashed line: the model knows how sure it can be." : verdict}
      </p>
    </section>
  );
}

// "33.2 percentage points lower than expected (46 ± 11 %)"
function surpriseWords({ suggested }: Result, { far, quantity }: Surprise, { objective, quantities }: Summary): string {
  const name = quantity || objective;
  const expected = expectedOf(suggested?.why, name);
  if (!expected) return "";
  const unit = quantities.find((other) => other.name === name)?.unit ?? "";
  const gap = difference(Math.abs(far) * expected.std, unit);
  return `${quantity && `${quantity}: `}${gap} ${far > 0 ? "higher" : "lower"} than expected (${measured(expected.mean, expected.std, unit)})`;
}

export function Surprises({ results, outliers }: { results: Result[]; outliers: Diagnostics["outliers"] }) {
  const { name, summary } = useFacts();
  const far = results
    .flatMap((result) => {
      const surprise = surpriseOf(result);
      return surprise && isSurprise(result) ? [{ result, surprise }] : [];
    })
    .sort((a, b) => Math.abs(b.surprise.far) - Math.abs(a.surprise.far));
  return (
    <section class="card wide surprises">
      <header>
        <h2>Surprises</h2>
        <span class="quiet small">far from what was expected then</span>
      </header>
      {outliers.map(({ key, words }) => (
        <p class="note warn outlier" key={key}>
          {`${words} `}
          <KeyLink study={name} id={key} />
        </p>
      ))}
      {!far.length && !outliers.length && <p class="quiet">No result was far from what was expected.</p>}
      <ul class="measurements">
        {far.slice(0, 8).map(({ result, surprise }) => (
          <li key={result.observation}>
            <KeyLink study={name} id={result.key} />
            <b class="number">{outcome(result, summary.quantities)}</b>
            <span class="quiet small">{surpriseWords(result, surprise, summary)}</span>
          </li>
        ))}
      </ul>
      {far.length > 0 && (
        <p>
          <a
            href={`${studyPath(name, "results")}?which=surprises&sort=-surprise`}
          >{`All ${plural(far.length, "surprise")}`}</a>
        </p>
      )}
    </section>
  );
}
