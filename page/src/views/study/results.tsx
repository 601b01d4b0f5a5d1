// Every result: what was measured, what was expected then, in which batch, by whom and when. Sort, filter, correct, take back.

import { useMemo, useState } from "preact/hooks";
import { setSearch, useAddress } from "../../core/address.ts";
import { get, query, studyApi } from "../../core/api.ts";
import { csvText, saveFile, saveText, type Writable } from "../../core/csv.ts";
import { count, plural } from "../../core/format.ts";
import { useRead, useStored } from "../../core/hooks.ts";
import { expectedOf, isCorrected, isSeveral } from "../../core/quantities.ts";
import type { CandidatePage, Cell } from "../../core/types.ts";
import { xlsxFile } from "../../core/xlsx_writing.ts";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { askToTakeBack } from "../correcting.tsx";
import { ColumnChooser } from "./column_chooser.tsx";
import { type Facts, isSurprise, type Result, surpriseOf, useFacts, useResults } from "./facts.ts";
import { type Conditions, columnsOf, whenOf, whoOf } from "./result_columns.tsx";
import { Unmeasured } from "./unmeasured.tsx";

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

// By a column of the table, by a quantity, or by a condition.
function orderOf(by: string, conditions: Conditions): ((result: Result) => string | number) | undefined {
  const [kind, ...rest] = by.split(" ");
  const name = rest.join(" ");
  if (kind === "value" && name) return ({ values }) => values[name]?.value ?? Number.NEGATIVE_INFINITY;
  if (kind === "condition") return ({ key }) => sortable(conditions.of(key, name));
  return ORDERS[by];
}

const sortable = (cell: Cell | undefined) =>
  typeof cell === "string" ? cell : Number(cell ?? Number.NEGATIVE_INFINITY);

function sorted(results: Result[], sort: string, conditions: Conditions): Result[] {
  const order = orderOf(sort.replace(/^-/, ""), conditions);
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

function textOf(result: Result, { columns, of }: Conditions): string {
  const cells = columns.map(({ name }) => of(result.key, name) ?? "");
  return [result.key, result.note ?? "", whoOf(result), result.reason ?? "", ...cells].join(" ").toLowerCase();
}

// The columns of the candidates, read as soon as one of them is to be shown.
function useConditions({ name, study, summary }: Facts) {
  const [chosen, setChosen] = useStored<string[]>(`nextbatch:conditions:${name}`, []);
  const own = study.columns.filter(({ role }) => role !== "key").map((column) => column.name);
  const wanted = own.some((column) => chosen.includes(column));
  const read = useRead(wanted ? () => readMeasured(name) : null, [name, wanted, summary.counts.observations]);
  const conditions = useMemo((): Conditions => {
    const cells = new Map(
      (read.data ?? []).map(({ key, features, attributes }) => [key, { ...attributes, ...features }]),
    );
    const columns = study.columns.filter((column) => chosen.includes(column.name));
    return { columns, of: (key, column) => cells.get(key)?.[column] };
  }, [read.data, study.columns, chosen]);
  const hidden = own.filter((column) => !chosen.includes(column));
  const setHidden = (names: string[]) => setChosen(own.filter((column) => !names.includes(column)));
  return { conditions, hidden, setHidden };
}

async function readMeasured(name: string): Promise<CandidatePage["candidates"][number][]> {
  const found: CandidatePage["candidates"][number][] = [];
  for (let total = 1; found.length < total; ) {
    const asked = query({ where: "measured", offset: found.length, limit: 10_000 });
    const page = await get<CandidatePage>(studyApi(name, "/candidates") + asked);
    found.push(...page.candidates);
    total = page.candidates.length ? page.total : 0;
  }
  return found;
}

export default function Results() {
  const facts = useFacts();
  const { name, summary } = facts;
  const { search } = useAddress();
  const { data, error, reload } = useResults();
  const { conditions, hidden, setHidden } = useConditions(facts);
  const [ticked, setTicked] = useState<Set<number>>(new Set());
  const find = search.get("find") ?? "";
  const which = search.get("which") ?? "";
  const sort = search.get("sort") ?? "-number";
  const shown = useMemo(() => {
    const meets = WHICH.find(([key]) => key === which)?.[2] ?? (() => true);
    const wanted = find.toLowerCase();
    const found = (data ?? []).filter((result) => meets(result) && textOf(result, conditions).includes(wanted));
    return sorted(found, sort, conditions);
  }, [data, find, which, sort, conditions]);
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
  const columns = columnsOf(facts, { conditions, ticked, setTicked, done });
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
        <ColumnChooser
          columns={facts.study.columns}
          hidden={hidden}
          onChange={setHidden}
          title={(shown) => (shown ? `Conditions: ${shown} shown` : "Conditions")}
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
          <button type="button" class="small" onClick={() => saveShown(facts, shown, conditions, "csv")}>
            CSV
          </button>
          <button type="button" class="small" onClick={() => saveShown(facts, shown, conditions, "xlsx")}>
            Excel
          </button>
        </span>
      </div>
      <Table
        label="Results"
        empty={!shown.length && "No result is like that. Find something else, or show all results."}
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

// What the table shows, in its order.
async function saveShown(facts: Facts, shown: Result[], conditions: Conditions, format: "csv" | "xlsx"): Promise<void> {
  const { header, rows } = fileOf(facts, shown, conditions);
  const name = `${facts.name}-results.${format}`;
  if (format === "csv") saveText(name, csvText(header, rows));
  else saveFile(name, await xlsxFile(header, rows));
}

function fileOf({ summary }: Facts, shown: Result[], conditions: Conditions): { header: string[]; rows: Writable[][] } {
  const names = summary.quantities.map((quantity) => quantity.name);
  const columns = conditions.columns.map((column) => column.name);
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
    ...columns.map((column) => conditions.of(result.key, column)),
    result.batch,
    whoOf(result),
    whenOf(result),
    result.note,
    result.version,
  ]);
  const header = ["observation", "candidate", ...measured, ...expected, ...columns];
  return { header: [...header, "batch", "who", "when", "note", "version"], rows };
}
