// A table of any number of rows, of which only the visible ones exist. Rows may arrive later than the table.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Term } from "./term.tsx";
import type { TermName } from "./terms.ts";

const ROW = 46;
const SPARE = 6;
const PADDING = 28;

export interface TableColumn<Row> {
  id: string;
  title: string;
  hidden?: boolean; // the title is for screen readers only
  term?: TermName;
  width: string;
  sort?: string; // what to sort by; absent if it cannot be sorted
  falling?: boolean; // the first click sorts from high to low
  class?: string;
  cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  label: string;
  columns: TableColumn<Row>[];
  total: number;
  rowAt: (position: number) => Row | undefined;
  keyOf: (row: Row) => string;
  classOf?: (row: Row) => string;
  pinned?: Row[];
  sort: string;
  onSort: (sort: string) => void;
  onRange?: (from: number, to: number) => void;
  empty?: string | false; // said instead of rows
}

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, total, rowAt, keyOf, pinned = [], onRange } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ from: 0, to: 30 });
  const measure = () => {
    const element = frame.current;
    if (!element) return;
    const top = Math.max(0, element.scrollTop - pinned.length * ROW);
    const from = Math.max(0, Math.floor(top / ROW) - SPARE);
    const to = Math.min(total, Math.ceil((top + element.clientHeight) / ROW) + SPARE);
    setRange((last) => (last.from === from && last.to === to ? last : { from, to }));
    onRange?.(from, to);
  };
  const latest = useRef(measure);
  latest.current = measure;
  // Whenever the number of rows changes.
  useEffect(() => latest.current(), [total, pinned.length]);
  useEffect(() => {
    const watch = new ResizeObserver(() => latest.current());
    if (frame.current) watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  // Another order begins at its top.
  useEffect(() => frame.current?.scrollTo({ top: 0 }), [props.sort]);
  const template = columns.map((column) => column.width).join(" ");
  const narrowest = columns.reduce((sum, { width }) => sum + Number(/(\d+)px/.exec(width)?.[1] ?? 0), PADDING);
  const positions = Array.from(
    { length: Math.max(0, Math.min(total, range.to) - range.from) },
    (_, i) => range.from + i,
  );
  return (
    <div
      class="table-frame"
      ref={frame}
      tabIndex={0}
      role="region"
      aria-label={`${label}, scrollable`}
      onScroll={measure}
    >
      <div
        class="table"
        role="table"
        aria-label={label}
        aria-rowcount={total + 1}
        style={{ "--columns": template, minWidth: `${narrowest}px` }}
      >
        <div role="rowgroup">
          <div class="tr th" role="row">
            {columns.map((column) => (
              <Head column={column} sort={props.sort} onSort={props.onSort} key={column.id} />
            ))}
          </div>
        </div>
        {pinned.length > 0 && (
          <div class="rows pins" role="rowgroup" style={{ height: `${pinned.length * ROW}px` }}>
            {pinned.map((row, position) => (
              <Line {...props} row={row} position={position} key={keyOf(row)} />
            ))}
          </div>
        )}
        {props.empty && <p class="quiet none">{props.empty}</p>}
        <div class="rows" role="rowgroup" style={{ height: `${total * ROW}px` }}>
          {positions.map((position) => {
            const row = rowAt(position);
            return (
              <Line {...props} row={row} position={position} index={position + 2} key={row ? keyOf(row) : position} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface LineProps<Row> extends TableProps<Row> {
  row: Row | undefined;
  position: number;
  index?: number;
}

function Line<Row>({ row, columns, position, index, classOf }: LineProps<Row>) {
  const style = { transform: `translateY(${position * ROW}px)` };
  if (row === undefined)
    return (
      <div class="tr ghost" role="row" style={style} aria-rowindex={index}>
        <span role="cell">…</span>
      </div>
    );
  return (
    <div class={`tr ${classOf?.(row) ?? ""}`} role="row" style={style} aria-rowindex={index}>
      {columns.map((column) => (
        <span role="cell" class={column.class ?? ""} key={column.id}>
          {column.cell(row)}
        </span>
      ))}
    </div>
  );
}

const Title = ({ words }: { words: string }) => (
  <span class="clip" title={words}>
    {words}
  </span>
);

const SORTED = { "": "none", up: "ascending", down: "descending" } as const;
const ARROWS = { "": "", up: "\u00a0↑", down: "\u00a0↓" };

interface HeadProps<Row> {
  column: TableColumn<Row>;
  sort: string;
  onSort: (sort: string) => void;
}

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { title, hidden, term, sort: by, falling } = column;
  if (!by)
    return (
      <span role="columnheader" class={column.class ?? ""}>
        {hidden ? <span class="visually-hidden">{title}</span> : <Title words={title} />}
        {term && <Term name={term} />}
      </span>
    );
  const orders = falling ? [`-${by}`, by, ""] : [by, `-${by}`, ""];
  const isSorted = sort === by || sort === `-${by}`;
  const direction = isSorted ? ((sort === by ? "up" : "down") as "up" | "down") : "";
  const next = orders[isSorted ? orders.indexOf(sort) + 1 : 0] ?? "";
  return (
    <span role="columnheader" class={column.class ?? ""} aria-sort={SORTED[direction]}>
      <button type="button" class="plain" onClick={() => onSort(next)}>
        <Title words={title} />
        <span>{ARROWS[direction]}</span>
      </button>
      {term && <Term name={term} />}
    </span>
  );
}

// The titles of the columns of a plain table.
export const Headings = ({ titles }: { titles: readonly string[] }) => (
  <thead>
    <tr>
      {titles.map((title) => (
        <th scope="col" key={title}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
);
