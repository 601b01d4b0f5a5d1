// What the measurements have cost, what those under way will cost, and what is left of the budget.

import { number, percent, withUnit } from "../../core/format.ts";
import type { Spending } from "../../core/types.ts";
import { Term } from "../../parts/term.tsx";

const DIGITS = 6;

export function SpendingStatistic({ spending }: { spending: Spending }) {
  const { spent, committed, budget, left, unit } = spending;
  const inUnit = (value: number) => withUnit(number(value, DIGITS), unit);
  return (
    <div class="stat">
      <span class="quiet small">{budget === null ? "Spent" : <Term name="budget">Left of the budget</Term>}</span>
      <strong class={left !== null && left < 0 ? "number bad-text" : "number"}>{inUnit(left ?? spent)}</strong>
      {budget !== null && <Shares spending={spending} budget={budget} />}
      <span class="quiet small">
        {budget !== null && `${inUnit(spent)} of ${inUnit(budget)} spent`}
        {committed > 0 && `${budget === null ? "" : ", "}${inUnit(committed)} under way`}
      </span>
    </div>
  );
}

function Shares({ spending: { spent, committed }, budget }: { spending: Spending; budget: number }) {
  const share = (value: number) => (budget > 0 ? Math.min(1, value / budget) : 1);
  const done = share(spent);
  const both = share(spent + committed);
  return (
    <div class="track two" role="img" aria-label={`${percent(done)} spent, ${percent(both - done)} under way`}>
      <span style={{ width: `${100 * done}%` }} />
      <span class="pale" style={{ width: `${100 * (both - done)}%` }} />
    </div>
  );
}
