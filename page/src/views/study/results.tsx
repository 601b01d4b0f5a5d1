// Every result: what was measured, what was expected then, in which batch, by whom and when. Sort, filter, correct, take back.

import { useMemo, useState } from "preact/hooks";
import { setSearch, studyPath, useAddress } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { csvText, saveText } from "../../core/csv.ts";
import { count, exact, fullTime, measured, number, plural, shortTime } from "../../core/format.ts";
import {
  constraintsOn,
  constraintWords,
  expectedOf,
  faultWords,
  isCorrected,
  isSeveral,
  quantityTitle,
} from "../../core/quantities.ts";
import type { Quantity } from "../../core/types.ts";
import { actorWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Table, type TableColumn } from "../../parts/table.tsx";
import { askToTakeBack, correctResult, mayCorrect } from "../correcting.tsx";
import { type Facts, isSurprise, type Result, surpriseOf, useFacts, useResults } from "./facts.ts";
import { Unmeasured } from "./unmeasured.tsx";

const whoOf = (result: Result) => result.measured_by ?? actorWords(result.actor);
const whenOf = (result: Result) => result.measured_at ?? result.recorded_at;

const ORDERS: Record<string, (result: Result) => string | number> = {
  number: (result) => result.observation,
  key: (result) => result.key,
  value: (result) => result.value ?? Number.NEGATIVE_INFINITY,
  expected: (result) => result.suggested?.why.mean ?? Number.NEGATIVE_INFINITY,
  surprise: (result) => Math.abs(surpriseOf(result)?.far ?? 0),
  batch: (result) => result.batch ?? 0,
  who: whoOf,
  when: whenOf,
};

// By a column of the table, or by a quantity.
const orderOf = (by: string) =>
  by.startsWith("value ")
    ? (result: Result) => result.values[by.slice("value ".length)]?.value ?? Number.NEGATIVE_INFINITY
    : ORDERS[by];
const sortOf = ({ name }: Quantity, position: number) => (position ? `value ${name}` : "value");

function sorted(results: Result[], sort: string): Result[] {
  const order = orderOf(sort.replace(/^-/, ""));
  if (!order) return results;
  const side = sort.startsWith("-") ? -1 : 1;
  const compare = (a: Result, b: Result) => {
    const [left, right] = [order(a), order(b)];
    if (typeof left === "string") return left.localeCompare(String(right), undefined, { numeric: true });
    return left - Number(right);
  };
  return [...results].sort((a, b) => side * compare(a, b));
}

const WHICH: [string, string, (result: Result) => boolean][] = [
  ["", "All results", () => true],
  ["surprises", "Surprises", (result) => isSurprise(result)],
  ["corrected", "Corrected", isCorrected],
  ["noted", "With a note", (result) => Boolean(result.note)],
  ["unasked", "Not suggested", (result) => result.suggestion === null],
  ["partly", "Partly measured", (result) => result.missing.length > 0],
];

const textOf = (result: Result) =>
  `${result.key} ${result.note ?? ""} ${whoOf(result)} ${result.reason ?? ""}`.toLowerCase();

export default function Results() {
  const facts = useFacts();
  const { name, summary } = facts;
  const { search } = useAddress();
  const { data, error, reload } = useResults();
  const [ticked, setTicked] = useState<Set<number>>(new Set());
  const find = search.get("find") ?? "";
  const which = search.get("which") ?? "";
  const sort = search.get("sort") ?? "-number";
  const shown = useMemo(() => {
    const meets = WHICH.find(([key]) => key === which)?.[2] ?? (() => true);
    const found = (data ?? []).filter((result) => meets(result) && textOf(result).includes(find.toLowerCase()));
    return sorted(found, sort);
  }, [data, find, which, sort]);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  if (!data.length)
    return (
      <>
        <Empty
          icon="flask"
          title="No results yet"
          text="Every value that is reported appears here, with what was expected."
        />
        <Unmeasured />
      </>
    );
  const done = async () => {
    setTicked(new Set());
    await facts.look();
    reload();
  };
  const chosen = shown.filter((result) => ticked.has(result.observation));
  const columns = columnsOf(facts, { ticked, setTicked, done });
  return (
    <>
      <div class="row tools">
        <input
          class="search"
          type="search"
          placeholder="Find a key, note or person"
          aria-label="Find a key, note or person"
          defaultValue={find}
          onInput={(event) => setSearch({ find: event.currentTarget.value })}
        />
        <Select
          label="Which results"
          hideLabel
          options={WHICH.filter(([key]) => key !== "partly" || isSeveral(summary)).map(([key, words]) => [key, words])}
          value={which}
          onChange={(value) => setSearch({ which: value })}
        />
        {chosen.length > 0 && (
          <button type="button" class="danger" onClick={() => askToTakeBack(name, chosen, done)}>
            {`Take back ${plural(chosen.length, "result")}`}
          </button>
        )}
        <span class="tally">
          <span class="quiet small number" role="status">
            {plural(shown.length, "result")}
            {shown.length < data.length && ` of ${count(data.length)}`}
          </span>
          <button type="button" class="small" onClick={() => saveCsv(facts, shown)}>
            CSV
          </button>
          <a
            class="button small"
            href={`${studyApi(name, "/observations")}?format=xlsx`}
            download={`${name}-results.xlsx`}
            title="All results"
          >
            Excel
          </a>
        </span>
      </div>
      <Table
        label="Results"
        columns={columns}
        total={shown.length}
        rowAt={(position) => shown[position]}
        keyOf={(result) => String(result.observation)}
        classOf={(result) => (result.key === summary.best_observed?.key ? "best-row" : "")}
        sort={sort}
        onSort={(value) => setSearch({ sort: value })}
      />
      <Unmeasured />
    </>
  );
}

interface Acting {
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
    width: several ? "minmax(190px, 1.2fr)" : "minmax(110px, 1fr)",
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
  width: "minmax(140px, 1fr)",
  class: "right number",
  cell: ({ suggested }) =>
    suggested && suggested.why.mean !== null ? measured(suggested.why.mean, suggested.why.std) : "–",
};

function columnsOf(facts: Facts, { ticked, setTicked, done }: Acting): TableColumn<Result>[] {
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
      width: "64px",
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
      width: "minmax(116px, 0.8fr)",
      cell: (result) => <Surprise result={result} />,
    },
    {
      id: "batch",
      title: "Batch",
      sort: "batch",
      falling: true,
      width: "90px",
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
      width: "minmax(120px, 1.4fr)",
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
      width: "96px",
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

function saveCsv({ name, summary }: Facts, shown: Result[]): void {
  const names = summary.quantities.map((quantity) => quantity.name);
  const measured = isSeveral(summary) ? names : ["value"];
  const expected = measured.flatMap((quantity) =>
    isSeveral(summary) ? [`expected ${quantity}`, `expected_std ${quantity}`] : ["expected", "expected_std"],
  );
  const rows = shown.map((result) => [
    result.observation,
    result.key,
    ...names.map((quantity) => result.values[quantity]?.value),
    ...names.flatMap((quantity) => {
      const known = expectedOf(result.suggested?.why, quantity);
      return [known?.mean, known?.std];
    }),
    result.batch,
    whoOf(result),
    whenOf(result),
    result.note,
    result.version,
  ]);
  const header = ["observation", "candidate", ...measured, ...expected, "batch", "who", "when", "note", "version"];
  saveText(`${name}-results.csv`, csvText(header, rows));
}
