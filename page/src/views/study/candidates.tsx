// The candidates: any number of rows. The server sorts and filters; the address keeps what is shown.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { setSearch, useAddress } from "../../core/address.ts";
import { explain, get, query, studyApi } from "../../core/api.ts";
import { count, plural } from "../../core/format.ts";
import { useDelayed, useStored } from "../../core/hooks.ts";
import { may } from "../../core/session.ts";
import type { CandidatePage } from "../../core/types.ts";
import { Select } from "../../parts/field.tsx";
import { Empty } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { UploadCandidates } from "../upload.tsx";
import { type Believed, joined, readBelieved } from "./believed.ts";
import { columnsOf } from "./candidate_columns.tsx";
import { ColumnChooser } from "./column_chooser.tsx";
import { type Facts, useFacts } from "./facts.ts";
import { FilterBuilder } from "./filters.tsx";

const PAGE = 200;
const NONE: Believed[] = [];
const STATUS: [string, string][] = [
  ["", "All candidates"],
  ["never", "Never measured"],
  ["measured", "Measured"],
  ["pending", "On a bench"],
  ["available", "Available"],
  ["unavailable", "Unavailable"],
];

const CONDITIONS: Record<string, string[]> = { never: ["counts=0"], measured: ["counts>=1"], pending: ["pending>=1"] };

// The part of the request that the address decides.
function asked(search: URLSearchParams, { summary }: Facts): Record<string, string | string[] | boolean> {
  const best = summary.direction === "minimize" ? "mean" : "-mean";
  const show = search.get("show") ?? "";
  return {
    sort: search.get("sort") ?? (summary.counts.observations ? best : ""),
    search: search.get("find") ?? "",
    available: { available: "true", unavailable: "false" }[show] ?? "",
    where: [...search.getAll("where"), ...(CONDITIONS[show] ?? [])],
  };
}

export default function Candidates() {
  const facts = useFacts();
  const { name, summary, look } = facts;
  const { search } = useAddress();
  const wanted = asked(search, facts);
  const [pins, setPins] = useStored<string[]>(`nextbatch:pins:${name}`, []);
  const [hidden, setHidden] = useStored<string[]>(`nextbatch:hidden-columns:${name}`, []);
  const listed = useCandidates(facts, wanted);
  const pinned = usePinned(facts, pins);
  const domains = useDomains(facts, listed);
  const find = useDelayed((text: string) => setSearch({ find: text }), 200);
  const columns = useMemo(
    () => columnsOf(facts, { domains, pins, setPins, hidden, onChange: look }),
    [facts, domains, pins, hidden],
  );
  if (!summary.counts.candidates)
    return (
      <Empty icon="file" title="No candidates yet" text="Upload the list of candidates first.">
        {may("manage") && <UploadCandidates name={name} onDone={look} first />}
      </Empty>
    );
  const table = (format: string) =>
    studyApi(name, "/candidates") + query({ ...wanted, posterior: true, format, omit: hidden });
  return (
    <>
      <div class="row tools">
        <input
          class="search"
          type="search"
          placeholder="Find a key"
          aria-label="Find a key"
          defaultValue={String(wanted.search)}
          onInput={(event) => find(event.currentTarget.value)}
        />
        <Select
          label="Which candidates"
          hideLabel
          options={STATUS}
          value={search.get("show") ?? ""}
          onChange={(show) => setSearch({ show })}
        />
        <FilterBuilder columns={facts.study.columns} where={search.getAll("where")} />
        <ColumnChooser columns={facts.study.columns} hidden={hidden} onChange={setHidden} />
        <span class="tally">
          <span class="quiet small number" role="status">
            {plural(listed.total, "candidate")}
            {listed.total < summary.counts.candidates && ` of ${count(summary.counts.candidates)}`}
          </span>
          {may("manage") && <UploadCandidates name={name} onDone={look} />}
          <a class="button small" href={table("csv")} download={`${name}-candidates.csv`}>
            CSV
          </a>
          <a class="button small" href={table("xlsx")} download={`${name}-candidates.xlsx`}>
            Excel
          </a>
        </span>
      </div>
      {listed.error !== null && (
        <p class="note bad" role="alert">
          {explain(listed.error)}
        </p>
      )}
      <Table
        label="Candidates"
        empty={listed.isEmpty && "No candidate is like that. Change what to find, or remove a filter."}
        columns={columns}
        total={listed.total}
        rowAt={listed.rowAt}
        keyOf={(candidate) => candidate.key}
        classOf={(candidate) => (candidate.available ? "" : "off")}
        pinned={pinned}
        sort={String(wanted.sort)}
        onSort={(sort) => setSearch({ sort })}
        onRange={listed.onRange}
      />
    </>
  );
}

// Pages of candidates as the table scrolls to them. What the study's news change is read again without a flicker.
function useCandidates({ name, summary }: Facts, wanted: Record<string, string | string[] | boolean>) {
  const [total, setTotal] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const [, redraw] = useState(0);
  const chunks = useRef(new Map<number, Believed[] | null>());
  const visible = useRef({ from: 0, to: 0 });
  const address = studyApi(name, "/candidates") + query({ ...wanted, posterior: true, limit: PAGE });
  const current = useRef("");

  const load = useCallback(async (from: string, number: number) => {
    try {
      const page = await get<CandidatePage>(`${from}&offset=${number * PAGE}`);
      if (from !== current.current) return;
      chunks.current.set(number, joined(page));
      setTotal(page.total);
      setError(null);
      redraw((times) => times + 1);
    } catch (problem) {
      if (from !== current.current) return;
      chunks.current.clear();
      setTotal(0);
      setError(problem);
    }
  }, []);

  // A new event may change every row.
  useEffect(() => {
    const again = current.current === address;
    current.current = address;
    const seen = new Set([0, Math.floor(visible.current.from / PAGE), Math.floor(visible.current.to / PAGE)]);
    if (!again) chunks.current.clear();
    for (const number of [...chunks.current.keys()]) if (!seen.has(number)) chunks.current.delete(number);
    for (const number of again ? seen : [0]) load(address, number);
  }, [address, summary.seq, load]);

  const onRange = useCallback(
    (from: number, to: number) => {
      visible.current = { from, to };
      if (!current.current) return; // the first page is on its way
      for (let number = Math.floor(from / PAGE); number <= Math.floor(Math.max(from, to - 1) / PAGE); number += 1)
        if (!chunks.current.has(number)) {
          chunks.current.set(number, null);
          load(current.current, number);
        }
    },
    [load],
  );
  const rowAt = (position: number) => chunks.current.get(Math.floor(position / PAGE))?.[position % PAGE];
  const first = chunks.current.get(0) ?? NONE;
  const isEmpty = total === 0 && !error && first !== NONE;
  return { total, error, rowAt, onRange, first, isEmpty };
}

function usePinned({ name, summary }: Facts, pins: string[]): Believed[] {
  const [rows, setRows] = useState<Believed[]>([]);
  // A new event may change a pinned row, too.
  useEffect(() => {
    const read = (key: string) => readBelieved(name, key).catch(() => null); // gone from the list: no longer pinned
    Promise.all(pins.map(read)).then((found) => setRows(found.filter((candidate) => candidate !== null)));
  }, [name, pins, summary.seq]);
  return rows;
}

// From the lowest to the highest plausible value: the common scale of the bars. Of several quantities, the server sorts
// by the first alone; the scales of the others are those of the first page.
function useDomains({ name, summary }: Facts, { first }: { first: Believed[] }): Record<string, [number, number]> {
  const [domain, setDomain] = useState<[number, number]>([0, 1]);
  // It moves with every result.
  useEffect(() => {
    const end = (sort: string) =>
      get<CandidatePage>(studyApi(name, "/candidates") + query({ posterior: true, sort, limit: 1 }));
    Promise.all([end("lower"), end("-upper")]).then(
      ([low, high]) => {
        const [lowest, highest] = [low.posterior?.[0], high.posterior?.[0]];
        if (lowest && highest) setDomain([lowest.lower, highest.upper]);
      },
      () => {}, // nothing is measured yet: no bars
    );
  }, [name, summary.seq]);
  return useMemo(() => {
    const [main, ...others] = summary.quantities.map((quantity) => quantity.name);
    const scaleOf = (quantity: string): [number, number] => {
      const known = first.flatMap(({ belief }) => belief?.quantities[quantity] ?? []);
      return [Math.min(...known.map(({ lower }) => lower)), Math.max(...known.map(({ upper }) => upper))];
    };
    return { [main ?? ""]: domain, ...Object.fromEntries(others.map((quantity) => [quantity, scaleOf(quantity)])) };
  }, [domain, first, summary.quantities]);
}
