// Every result: what was measured, what was expected then, in which batch, by whom and when. Sort, filter, correct, take back.

import { useMemo, useState } from "preact/hooks";
import { setSearch, studyPath, useAddress } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { csvText, saveText } from "../../core/csv.ts";
import { count, fullTime, measured, number, outcome, plural, shortTime, withUnit } from "../../core/format.ts";
import { actorWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Table, type TableColumn } from "../../parts/table.tsx";
import { askToTakeBack, correctResult, mayCorrect } from "../correcting.tsx";
import { type Facts, type Result, useFacts, useResults } from "./facts.ts";

const SURPRISE = 2; // standard deviations from what was expected

// How far a result lies from what was expected then, in standard deviations.
function surprise({ value, suggested }: Result): number | null {
  const why = suggested?.why;
  return why && why.mean !== null && why.std && value !== null ? (value - why.mean) / why.std : null;
}

const whoOf = (result: Result) => result.measured_by ?? actorWords(result.actor);
const whenOf = (result: Result) => result.measured_at ?? result.recorded_at;

const ORDERS: Record<string, (result: Result) => string | number> = {
  number: (result) => result.observation,
  key: (result) => result.key,
  value: (result) => result.value ?? Number.NEGATIVE_INFINITY,
  expected: (result) => result.suggested?.why.mean ?? Number.NEGATIVE_INFINITY,
  surprise: (result) => Math.abs(surprise(result) ?? 0),
  batch: (result) => result.batch ?? 0,
  who: whoOf,
  when: whenOf,
};

function sorted(results: Result[], sort: string): Result[] {
  const order = ORDERS[sort.replace(/^-/, "")];
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
  ["surprises", "Surprises", (result) => Math.abs(surprise(result) ?? 0) > SURPRISE],
  ["corrected", "Corrected", (result) => result.version > 1],
  ["noted", "With a note", (result) => Boolean(result.note)],
  ["unasked", "Not suggested", (result) => result.suggestion === null],
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
      <Empty
        icon="flask"
        title="No results yet"
        text="Every value that is reported appears here, with what was expected."
      />
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
          options={WHICH.map(([key, words]) => [key, words])}
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
    </>
  );
}

interface Acting {
  ticked: Set<number>;
  setTicked: (ticked: Set<number>) => void;
  done: () => Promise<void>;
}

function columnsOf({ name, summary }: Facts, { ticked, setTicked, done }: Acting): TableColumn<Result>[] {
  const { unit, objective } = summary;
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
    {
      id: "value",
      title: withUnit(objective || "Value", unit && `(${unit})`),
      sort: "value",
      falling: summary.direction !== "minimize",
      width: "minmax(110px, 1fr)",
      class: "right number",
      cell: (result) => (
        <>
          <b>{outcome(result, "")}</b>
          {result.version > 1 && (
            <span class="chip gap" title={result.reason ?? ""}>
              corrected
            </span>
          )}
        </>
      ),
    },
    {
      id: "expected",
      title: "Expected then",
      term: "atTheTime",
      sort: "expected",
      width: "minmax(140px, 1fr)",
      class: "right number",
      cell: ({ suggested }) =>
        suggested && suggested.why.mean !== null ? measured(suggested.why.mean, suggested.why.std) : "–",
    },
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
      width: "minmax(124px, 0.9fr)",
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
            onClick={() => correctResult(name, result, done)}
          >
            Correct
          </button>
        ),
    },
  ];
}

function Surprise({ result }: { result: Result }) {
  const far = surprise(result);
  if (far === null) return <span class="quiet">–</span>;
  if (Math.abs(far) <= SURPRISE) return <span class="quiet">as expected</span>;
  const side = far > 0 ? "higher" : "lower";
  const words = `${number(Math.abs(far), 2)} standard deviations ${side} than expected then`;
  return (
    <span class="chip warn" title={words}>
      {side}
    </span>
  );
}

const HEADER = [
  "observation",
  "candidate",
  "value",
  "expected",
  "expected_std",
  "batch",
  "who",
  "when",
  "note",
  "version",
];

function saveCsv({ name }: Facts, shown: Result[]): void {
  const rows = shown.map((result) => [
    result.observation,
    result.key,
    result.value,
    result.suggested?.why.mean,
    result.suggested?.why.std,
    result.batch,
    whoOf(result),
    whenOf(result),
    result.note,
    result.version,
  ]);
  saveText(`${name}-results.csv`, csvText(HEADER, rows));
}
