// One measurement of several quantities: each is typed and saved by itself, some now, some later.

import { exact, number, withUnit } from "../../core/format.ts";
import { constraintsOn, constraintWords, faultWords } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Observation, Quantity, Suggestion } from "../../core/types.ts";
import { correctResult, mayCorrect } from "../correcting.tsx";
import type { BenchFacts } from "./facts.ts";
import type { SlotsProps } from "./row.tsx";
import { Entry, SavedWhen, Waiting } from "./slot.tsx";

type MeasurementProps = SlotsProps & { replicate: number };

export function Measurement(props: MeasurementProps) {
  const { suggestion, replicate, facts } = props;
  const result = facts.results.get(`${suggestion.suggestion}/${replicate}`);
  if (result?.state === "retracted") return <TakenBack {...props} result={result} />;
  return (
    <div class="measurement">
      {suggestion.replicates > 1 && <p class="quiet small">{`Measurement ${replicate}`}</p>}
      {facts.summary.quantities.map((quantity) => (
        <QuantitySlot {...props} quantity={quantity} result={result} key={quantity.name} />
      ))}
      {result && (
        <div class="slot saved">
          <SavedWhen {...props} result={result} />
          {result.note && <span class="small">{result.note}</span>}
        </div>
      )}
    </div>
  );
}

type SlotProps = MeasurementProps & { quantity: Quantity; result: Observation | undefined };

function QuantitySlot(props: SlotProps) {
  const { facts, quantity } = props;
  const wanted = constraintsOn(facts.study, quantity.name).map((constraint) => constraintWords(constraint));
  return (
    <div class="quantity">
      <span class="quiet small">
        {quantity.name}
        {wanted.length > 0 && `, ${wanted.join(" and ")}`}
      </span>
      <Inside {...props} />
    </div>
  );
}

function Inside(props: SlotProps) {
  const { suggestion, replicate, facts, name, mine, quantity, result } = props;
  const place = `${suggestion.suggestion}/${replicate}/${quantity.name}`;
  const kept = mine.find((item) => item.place === place);
  if (kept)
    return <Waiting item={kept} name={name} unit={quantity.unit} quantity={quantity.name} suggestion={suggestion} />;
  const measured = result?.values[quantity.name];
  if (measured) return <Value value={measured.value} std={measured.std} quantity={quantity} facts={facts} />;
  return may("report") ? <Entry {...props} place={place} /> : <span class="quiet">pending</span>;
}

interface ValueProps {
  value: number;
  std: number | null;
  quantity: Quantity;
  facts: BenchFacts;
}

function Value({ value, std, quantity, facts }: ValueProps) {
  const fault = faultWords(value, constraintsOn(facts.study, quantity.name));
  return (
    <div class="slot saved">
      <b class="number">{withUnit(std ? `${exact(value)} ± ${number(std, 2)}` : exact(value), quantity.unit)}</b>
      {fault && <span class="chip warn">{fault}</span>}
    </div>
  );
}

// A correction would bring the other quantities back as well: all of them are shown and confirmed together.
function TakenBack({ result, facts, name, look }: MeasurementProps & { result: Observation }) {
  return (
    <div class="slot">
      <p class="quiet">Taken back.</p>
      {mayCorrect(result) && (
        <button
          type="button"
          class="no-print"
          onClick={() => correctResult(name, result, facts.summary.quantities, look)}
        >
          Enter again
        </button>
      )}
    </div>
  );
}

// Whether some quantities of a suggestion are measured, and others not yet.
export const isPartly = ({ suggestion, replicates, state }: Suggestion, { results }: BenchFacts): boolean =>
  state === "observed" &&
  Array.from({ length: replicates }, (_, position) => results.get(`${suggestion}/${position + 1}`)).some(
    (result) => result?.state === "recorded" && result.missing.length > 0,
  );
