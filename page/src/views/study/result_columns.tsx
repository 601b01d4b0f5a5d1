// A result as a row: its values, what was expected then, how surprising it was, who measured it, and its conditions.

import { studyPath } from "../../core/address.ts";
import { cell, count, exact, fullTime, measured, number, shortTime } from "../../core/format.ts";
import {
  constraintsOn,
  constraintWords,
  expectedOf,
  faultWords,
  isCorrected,
  isSeveral,
  quantityTitle,
} from "../../core/quantities.ts";
import type { Cell, Column, Quantity } from "../../core/types.ts";
import { actorWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import type { TableColumn } from "../../parts/table.tsx";
import { correctResult, mayCorrect } from "../correcting.tsx";
import { type Facts, isSurprise, type Result, surpriseOf } from "./facts.ts";

export const whoOf = (result: Result) => result.measured_by ?? actorWords(result.actor);
export const whenOf = (result: Result) => result.measured_at ?? result.recorded_at;

// The columns of the candidates that are shown beside their results, and what each candidate has in them.
export interface Conditions {
  columns: Column[];
  of: (key: string, column: string) => Cell | undefined;
}

export const sortOf = ({ name }: Quantity, position: number) => (position ? `value ${name}` : "value");

interface Acting {
  conditions: Conditions;
  ticked: Set<number>;
  setTicked: (ticked: Set<number>) => void;
  done: () => Promise<void>;
}

// A column for each quantity: its value, whether it is good enough, and with several what was expected then.
function quantityColumns({ study, summary }: Facts): TableColumn<Result>[] {
  const several = isSeveral(summary);
  return summary.quantities.map((quantity, position) => ({
    id: `value ${quantity.name}`,
    title: quantityTitle(quantity),
    sort: sortOf(quantity, position),
    falling: quantity.direction !== "minimize",
    width: several ? "minmax(230px, 1.2fr)" : "minmax(110px, 1fr)",
    class: "right number",
    cell: (result) => (
      <>
        <QuantityCell result={result} quantity={quantity} study={study} several={several} />
        {position === 0 && <Corrected result={result} />}
      </>
    ),
  }));
}

interface CellProps {
  result: Result;
  quantity: Quantity;
  study: Facts["study"];
  several: boolean;
}

function QuantityCell({ result, quantity, study, several }: CellProps) {
  const found = result.values[quantity.name];
  if (!found) return <span class="quiet">not yet</span>;
  const expected = several ? expectedOf(result.suggested?.why, quantity.name) : null;
  const wanted = constraintsOn(study, quantity.name);
  const fault = faultWords(found.value, wanted);
  return (
    <>
      {fault && (
        <span
          class="chip warn"
          title={`It must be ${wanted.map((it) => constraintWords(it, quantity.unit)).join(" and ")}.`}
        >
          {fault}
        </span>
      )}
      <b class={fault ? "gap" : ""}>{exact(found.value)}</b>
      {expected && (
        <span class="quiet small gap" title="expected then">
          {measured(expected.mean, expected.std)}
        </span>
      )}
    </>
  );
}

const Corrected = ({ result }: { result: Result }) =>
  isCorrected(result) ? (
    <span class="chip gap" title={result.reason ?? ""}>
      corrected
    </span>
  ) : null;

const expectedColumn: TableColumn<Result> = {
  id: "expected",
  title: "Expected then",
  term: "atTheTime",
  sort: "expected",
  width: "minmax(136px, 1fr)",
  class: "right number",
  cell: ({ suggested }) =>
    suggested && suggested.why.mean !== null ? measured(suggested.why.mean, suggested.why.std) : "–",
};

const conditionColumn = ({ name, kind }: Column, { of }: Conditions): TableColumn<Result> => ({
  id: `condition ${name}`,
  title: name,
  sort: `condition ${name}`,
  width: `minmax(${Math.min(200, Math.max(104, 44 + 8 * name.length))}px, 1fr)`,
  class: kind === "number" ? "right number" : "",
  cell: ({ key }) => <span class="clip">{cell(of(key, name))}</span>,
});

export function columnsOf(facts: Facts, { conditions, ticked, setTicked, done }: Acting): TableColumn<Result>[] {
  const { name, summary } = facts;
  const tick = (number_: number, on: boolean) => {
    const fresh = new Set(ticked);
    if (on) fresh.add(number_);
    else fresh.delete(number_);
    setTicked(fresh);
  };
  return [
    {
      id: "tick",
      title: "Choose",
      hidden: true,
      width: "40px",
      cell: (result) =>
        mayCorrect(result) && (
          <input
            type="checkbox"
            aria-label={`Choose result ${result.observation}`}
            checked={ticked.has(result.observation)}
            onChange={(event) => tick(result.observation, event.currentTarget.checked)}
          />
        ),
    },
    {
      id: "number",
      title: "No.",
      sort: "number",
      falling: true,
      width: "74px",
      class: "number",
      cell: (result) => count(result.observation),
    },
    {
      id: "key",
      title: "Candidate",
      sort: "key",
      width: "minmax(120px, 1.2fr)",
      cell: (result) => <KeyLink study={name} id={result.key} />,
    },
    ...quantityColumns(facts),
    ...(isSeveral(summary) ? [] : [expectedColumn]),
    {
      id: "surprise",
      title: "Surprise",
      sort: "surprise",
      falling: true,
      width: "minmax(106px, 0.7fr)",
      cell: (result) => <Surprise result={result} />,
    },
    ...conditions.columns.map((column) => conditionColumn(column, conditions)),
    {
      id: "batch",
      title: "Batch",
      sort: "batch",
      falling: true,
      width: "72px",
      class: "number",
      cell: ({ batch }) =>
        batch ? <a href={`${studyPath(name, "batches")}?open=${batch}`}>{batch}</a> : <span class="quiet">–</span>,
    },
    {
      id: "who",
      title: "Who",
      sort: "who",
      width: "minmax(110px, 1fr)",
      cell: (result) => <span class="clip">{whoOf(result)}</span>,
    },
    {
      id: "when",
      title: "When",
      sort: "when",
      falling: true,
      width: "minmax(142px, 0.9fr)",
      class: "number",
      cell: (result) => <span title={fullTime(whenOf(result))}>{shortTime(whenOf(result))}</span>,
    },
    {
      id: "note",
      title: "Note",
      width: "minmax(150px, 1.8fr)",
      cell: ({ note }) => (
        <span class="clip" title={note ?? ""}>
          {note ?? ""}
        </span>
      ),
    },
    {
      id: "act",
      title: "Correct",
      hidden: true,
      width: "86px",
      cell: (result) =>
        mayCorrect(result) && (
          <button
            type="button"
            class="plain small"
            aria-label={`Correct result ${result.observation} of ${result.key}`}
            onClick={() => correctResult(name, result, summary.quantities, done)}
          >
            Correct
          </button>
        ),
    },
  ];
}

function Surprise({ result }: { result: Result }) {
  const surprise = surpriseOf(result);
  if (!surprise) return <span class="quiet">–</span>;
  if (!isSurprise(result)) return <span class="quiet">as expected</span>;
  const side = surprise.far > 0 ? "higher" : "lower";
  const words = `${number(Math.abs(surprise.far), 2)} standard deviations ${side} than expected then`;
  return (
    <span class="chip warn" title={words}>
      {surprise.quantity ? `${surprise.quantity} ${side}` : side}
    </span>
  );
}
