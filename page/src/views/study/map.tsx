// A map of the candidates by two features, or by similarity in all of them, coloured by what the model expects.

import type { EChartsType } from "echarts/core";
import { useMemo, useRef, useState } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { principalComponents } from "../../charts/components.ts";
import { setSearch, useAddress } from "../../core/address.ts";
import { get, query, studyApi } from "../../core/api.ts";
import { csvText, saveText } from "../../core/csv.ts";
import { cell, count, measured, number, plural } from "../../core/format.ts";
import { useFollowed, useRead } from "../../core/hooks.ts";
import { beliefOf, isSeveral, objectivesOf, quantityOf, quantityTitle } from "../../core/quantities.ts";
import type { Bench, CandidatePage, Quantity } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { type Believed, joined } from "./believed.ts";
import { type Facts, useFacts } from "./facts.ts";
import { type Dot, mapOption, scaleOf } from "./map_option.ts";

const PAGE = 10_000;
const MOST = 50_000;
const COLOURS = { mean: "expected value", std: "uncertainty", ucb: "best plausible value" };
type Colour = keyof typeof COLOURS;
const TERM_OF = { mean: "expected", std: "uncertainty", ucb: "plausible" } as const;

type Mapped = Believed & { batch: boolean };

async function readAll(name: string): Promise<Mapped[]> {
  const pending = get<Bench>(studyApi(name, "/suggestions"));
  const found: Believed[] = [];
  for (let offset = 0; offset < MOST; offset = found.length) {
    const page = await get<CandidatePage>(
      studyApi(name, "/candidates") + query({ posterior: true, offset, limit: PAGE }),
    );
    found.push(...joined(page));
    if (found.length >= page.total || !page.candidates.length) break;
  }
  const batch = new Set((await pending).suggestions.map((suggestion) => suggestion.key));
  return found.map((candidate) => ({ ...candidate, batch: batch.has(candidate.key) }));
}

// Large lists are not read again with every event.
function useMapped({ name, summary }: Facts) {
  const seq = useFollowed(summary.seq, summary.counts.candidates > 5_000 ? 5_000 : 300);
  return useRead(summary.counts.candidates ? () => readAll(name) : null, [name, seq]);
}

export default function CandidateMap() {
  const facts = useFacts();
  const { search } = useAddress();
  const { data, error, reload } = useMapped(facts);
  if (!facts.summary.counts.candidates)
    return <Empty icon="file" title="No candidates yet" text="Upload candidates to see them on a map." />;
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  const colour = (search.get("colour") ?? "mean") as Colour;
  const quantity = quantityOf(facts.summary, search.get("quantity"));
  const marked = search.getAll("mark");
  return (
    <Shown
      facts={facts}
      all={data}
      quantity={quantity}
      marked={marked}
      x={search.get("x") ?? ""}
      y={search.get("y") ?? ""}
      colour={colour}
    />
  );
}

interface ShownProps {
  facts: Facts;
  all: Mapped[];
  quantity: Quantity;
  marked: string[]; // the candidates chosen in another view
  x: string;
  y: string;
  colour: Colour;
}

function shadeOf({ belief }: Believed, colour: Colour, minimize: boolean): number | null {
  if (!belief) return null;
  const best = minimize ? belief.lower : belief.upper;
  return { mean: belief.mean, std: belief.std, ucb: best }[colour];
}

function Shown({ facts, all: known, quantity, marked, x, y, colour }: ShownProps) {
  const { name, study, summary } = facts;
  const all = useMemo(
    () => known.map((candidate) => ({ ...candidate, belief: beliefOf(candidate.belief, quantity.name) })),
    [known, quantity.name],
  );
  const features = study.columns.filter((column) => column.role === "feature");
  const [lassoed, setLassoed] = useState<number[]>([]);
  const chart = useRef<EChartsType | null>(null);
  const components = useMemo(
    () =>
      x
        ? []
        : principalComponents(
            all.map((candidate) => candidate.features),
            features,
          ),
    [all, x],
  );
  const across = scaleOf(
    features.find((feature) => feature.name === x),
    1,
  );
  const up = scaleOf(
    features.find((feature) => feature.name === (y || x)),
    2,
  );
  const dots: Dot[] = all.map((candidate, position) => ({
    x: x ? across.place(candidate) : (components[position]?.[0] ?? 0),
    y: x ? up.place(candidate) : (components[position]?.[1] ?? 0),
    shade: shadeOf(candidate, colour, quantity.direction === "minimize"),
    off: !candidate.available || (marked.length > 0 && !marked.includes(candidate.key)),
    measured: (candidate.belief?.counts ?? 0) > 0,
    batch: candidate.batch,
    best: summary.front
      ? summary.front.measured.some(({ key }) => key === candidate.key)
      : candidate.key === summary.best_observed?.key,
  }));
  const shades = dots.map((dot) => dot.shade).filter((shade) => shade !== null);
  const [low, high] = [Math.min(...shades), Math.max(...shades)];
  const words = (position: number) => wordsOf(all[position], quantity.unit);
  const open = (position: number) => all[position] && setSearch({ candidate: all[position].key });
  const onReady = (made: EChartsType) => {
    chart.current = made;
    made.on("brushselected", (event) => {
      const { batch } = event as { batch: { selected: { seriesIndex: number; dataIndex: number[] }[] }[] };
      setLassoed(batch[0]?.selected.find(({ seriesIndex }) => seriesIndex === 0)?.dataIndex ?? []);
    });
  };
  const lasso = () =>
    chart.current?.dispatchAction({
      type: "takeGlobalCursor",
      key: "brush",
      brushOption: { brushType: "polygon", brushMode: "single" },
    });
  const clear = () => {
    chart.current?.dispatchAction({ type: "brush", areas: [] });
    chart.current?.dispatchAction({ type: "takeGlobalCursor" });
    setLassoed([]);
  };
  const names: [string, string][] = features.map((feature) => [feature.name, feature.name]);
  const second = features.find((feature) => feature.name !== x)?.name ?? x;
  return (
    <section class="card">
      <div class="row tools">
        <Select
          label="Horizontal"
          options={[["", "by similarity"], ...names]}
          value={x}
          onChange={(value) => setSearch({ x: value, y: value ? y || (second === value ? x : second) : null })}
        />
        {x && <Select label="Vertical" options={names} value={y || x} onChange={(value) => setSearch({ y: value })} />}
        <Select
          label="Colour"
          options={Object.entries(COLOURS)}
          value={colour}
          onChange={(value) => setSearch({ colour: value })}
        />
        {isSeveral(summary) && (
          <Select
            label="Of"
            options={summary.quantities.map((other): [string, string] => [other.name, other.name])}
            value={quantity.name}
            onChange={(value) => setSearch({ quantity: value })}
          />
        )}
        {marked.length > 0 && (
          <button type="button" onClick={() => setSearch({ mark: null })}>
            {`${plural(marked.length, "candidate")} marked ×`}
          </button>
        )}
        <button type="button" onClick={lasso}>
          Lasso
        </button>
        {!x && <span class="quiet small">Candidates with similar features are close together.</span>}
      </div>
      <Chart
        title="Map of the candidates"
        height="map"
        canvas
        picture={`${name}-map`}
        facts={[all, x, y, colour, marked.length]}
        stops={stopsOf(all, dots, words, open)}
        onPick={({ seriesIndex, dataIndex }) => seriesIndex === 0 && open(dataIndex)}
        onReady={onReady}
        option={(theme) => mapOption(theme, dots, { across: x ? across : null, up: x ? up : null, low, high, words })}
      />
      <div class="legend">
        <span>
          <Term name={TERM_OF[colour]}>{`${COLOURS[colour]} of ${quantityTitle(quantity)}`}</Term>
        </span>
        {shades.length > 0 && (
          <span class="scale">
            <span class="number">{number(low, 3)}</span>
            <span class="ramp" />
            <span class="number">{number(high, 3)}</span>
          </span>
        )}
        <span class="mark measured">measured</span>
        <span class="mark batch">on a bench</span>
        <span class="mark best">{objectivesOf(summary).length > 1 ? "on the front" : "best so far"}</span>
        {all.length < summary.counts.candidates && (
          <span>{`the first ${count(all.length)} of ${count(summary.counts.candidates)}`}</span>
        )}
      </div>
      {lassoed.length > 0 && (
        <Lassoed chosen={lassoed.map((position) => all[position])} facts={facts} unit={quantity.unit} onClear={clear} />
      )}
    </section>
  );
}

function wordsOf(candidate: Mapped | undefined, unit: string): string[] {
  if (!candidate) return [];
  const { key, belief, features } = candidate;
  const settings = Object.entries(features).map(([column, value]) => `${column} ${cell(value)}`);
  const more = settings.length > 6 ? [`and ${settings.length - 6} more columns`] : [];
  return [key, belief ? measured(belief.mean, belief.std, unit) : "", ...settings.slice(0, 6), ...more];
}

// The arrow keys walk through what matters: what is measured or on a bench, from left to right.
function stopsOf(
  all: Mapped[],
  dots: Dot[],
  words: (position: number) => string[],
  open: (position: number) => unknown,
) {
  return all
    .map((_, index) => index)
    .filter((index) => dots[index]?.measured || dots[index]?.batch)
    .sort((a, b) => (dots[a]?.x ?? 0) - (dots[b]?.x ?? 0))
    .slice(0, 2_000)
    .map((index) => ({ series: 0, index, words: words(index).join(", "), pick: () => open(index) }));
}

interface LassoedProps {
  chosen: (Mapped | undefined)[];
  facts: Facts;
  unit: string;
  onClear: () => void;
}

function Lassoed({ chosen, facts: { name }, unit, onClear }: LassoedProps) {
  const listed = chosen.filter((candidate) => candidate !== undefined);
  const save = () => {
    const columns = Object.keys(listed[0]?.features ?? {});
    const rows = listed.map(({ key, belief, features }) => [
      key,
      belief?.mean,
      belief?.std,
      ...columns.map((column) => features[column]),
    ]);
    saveText(`${name}-selection.csv`, csvText(["key", "expected", "std", ...columns], rows));
  };
  return (
    <section class="lassoed">
      <div class="row">
        <h3>{`${plural(listed.length, "candidate")} in the lasso`}</h3>
        <span class="push" />
        <button type="button" class="small" onClick={save}>
          CSV
        </button>
        <button type="button" class="small" onClick={onClear}>
          Clear
        </button>
      </div>
      <ul class="key-list">
        {listed.slice(0, 200).map(({ key, belief }) => (
          <li key={key}>
            <KeyLink study={name} id={key} />
            {belief && <span class="quiet small number">{measured(belief.mean, belief.std, unit)}</span>}
          </li>
        ))}
      </ul>
      {listed.length > 200 && <p class="quiet small">{`The CSV file has all ${count(listed.length)}.`}</p>}
    </section>
  );
}
