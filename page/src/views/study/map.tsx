// A map of the candidates by two features, or by similarity in all of them, coloured by what the model expects.

import type { EChartsType } from "echarts/core";
import { useMemo, useRef, useState } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { setSearch, useAddress } from "../../core/address.ts";
import { csvText, saveText } from "../../core/csv.ts";
import { cell, count, measured, number, plural } from "../../core/format.ts";
import { useFollowed, useRead } from "../../core/hooks.ts";
import { isSeveral, objectivesOf, quantityOf, quantityTitle } from "../../core/quantities.ts";
import type { Column, Quantity } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import type { Believed } from "./believed.ts";
import { type Facts, useFacts } from "./facts.ts";
import {
  type Colour,
  isInside,
  type Mapped,
  ofQuantity,
  readAt,
  readMap,
  readPlaces,
  type Shown as ShownBy,
} from "./map_data.ts";
import { BENCH, groupsOf, MEASURED, mapOption, placed, scaleOf } from "./map_option.ts";

const COLOURS = { mean: "expected value", std: "uncertainty", ucb: "best plausible value" };
const TERM_OF = { mean: "expected", std: "uncertainty", ucb: "plausible" } as const;

// The candidates with a star: the best so far, or those on the measured front.
function bestKeys({ summary }: Facts): string[] {
  if (summary.front) return summary.front.measured.map(({ key }) => key);
  return summary.best_observed ? [summary.best_observed.key] : [];
}

// Long lists are not read again with every event.
function useMapped(facts: Facts, shown: ShownBy, marked: string[]) {
  const { name, summary } = facts;
  const seq = useFollowed(summary.seq, summary.counts.candidates > 5_000 ? 5_000 : 300);
  const { x, y, colour, quantity } = shown;
  const keys = [...new Set([...bestKeys(facts), ...marked])];
  const wanted = [name, seq, x, y, colour, quantity.name, keys.join("\n")];
  return useRead(summary.counts.candidates ? () => readMap(facts, shown, keys) : null, wanted);
}

export default function CandidateMap() {
  const facts = useFacts();
  const { search } = useAddress();
  const features = facts.study.columns.filter((column) => column.role === "feature");
  const featureOf = (asked: string | null) => features.find((feature) => feature.name === asked);
  const [across, up] = [featureOf(search.get("x")), featureOf(search.get("y")) ?? featureOf(search.get("x"))];
  const shown: ShownBy = {
    x: across?.name ?? "",
    y: across ? (up?.name ?? "") : "",
    colour: (search.get("colour") ?? "mean") as Colour,
    quantity: quantityOf(facts.summary, search.get("quantity")),
  };
  const marked = search.getAll("mark");
  const { data, error, reload } = useMapped(facts, shown, marked);
  if (!facts.summary.counts.candidates)
    return <Empty icon="file" title="No candidates yet" text="Upload candidates to see them on a map." />;
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  return <Shown facts={facts} features={features} mapped={data} shown={shown} marked={marked} />;
}

interface ShownProps {
  facts: Facts;
  features: Column[];
  mapped: Mapped;
  shown: ShownBy;
  marked: string[]; // the candidates chosen in another view
}

// The places of some keys; all of them were read with the map.
function placesOf(keys: string[], named: Mapped["named"]): number[] {
  const wanted = new Set(keys);
  return [...named.values()].filter(({ key }) => wanted.has(key)).map((candidate) => candidate.number);
}

function Shown({ facts, features, mapped, shown, marked }: ShownProps) {
  const { name, summary } = facts;
  const { x, y, colour, quantity } = shown;
  const [lassoed, setLassoed] = useState<number[]>([]);
  const chart = useRef<EChartsType | null>(null);
  const groups = useMemo(
    () => groupsOf(mapped, placesOf(bestKeys(facts), mapped.named), new Set(placesOf(marked, mapped.named))),
    [mapped, marked.length],
  );
  const scaleFor = (column: string) => scaleOf(features.find((feature) => feature.name === column));
  const [across, up] = [scaleFor(mapped.shown.x), scaleFor(mapped.shown.y)];
  const words = (candidate: Believed) => wordsOf(ofQuantity(candidate, quantity), quantity.unit);
  const tell = (place: number, told: (words: string[]) => void): string[] => {
    const known = mapped.named.get(place);
    if (known) return words(known);
    readAt(name, place).then(
      (found) => {
        if (found) mapped.named.set(place, found);
        if (found) told(words(found));
      },
      () => {}, // without the server there is nothing to tell
    );
    return ["…"];
  };
  const open = async (place: number) => {
    const found = mapped.named.get(place) ?? (await readAt(name, place));
    if (found) setSearch({ candidate: found.key });
  };
  const latest = useRef({ mapped, across, up });
  latest.current = { mapped, across, up };
  const onReady = (made: EChartsType) => {
    chart.current = made;
    made.on("brushEnd", (event) => {
      const { areas } = event as unknown as { areas: { range: [number, number][] }[] };
      const polygon = (areas[0]?.range ?? []).map((point) => made.convertFromPixel({ gridIndex: 0 }, point));
      setLassoed(polygon.length > 2 ? inside(polygon as [number, number][], latest.current) : []);
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
  // Another column than the horizontal one; the one that is shown if it can be.
  const verticalFor = (across: string) =>
    y && y !== across ? y : (features.find((feature) => feature.name !== across)?.name ?? across);
  return (
    <section class="card">
      <div class="row tools">
        <Select
          label="Horizontal"
          options={[["", "by similarity"], ...names]}
          value={x}
          onChange={(value) => setSearch({ x: value, y: value ? verticalFor(value) : null })}
        />
        {x && <Select label="Vertical" options={names} value={y} onChange={(value) => setSearch({ y: value })} />}
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
        zoom
        canvas
        picture={`${name}-map`}
        facts={[groups]}
        stops={stopsOf(mapped, groups.places, words, open)}
        onPick={({ seriesIndex, dataIndex }) => open(groups.places[seriesIndex]?.[dataIndex] ?? -1)}
        onReady={onReady}
        option={(theme) => mapOption(theme, mapped, groups, { across, up, words: tell })}
      />
      <div class="legend">
        <span>
          <Term name={TERM_OF[colour]}>{`${COLOURS[colour]} of ${quantityTitle(quantity)}`}</Term>
        </span>
        {groups.high >= groups.low && (
          <span class="scale">
            <span class="number">{number(groups.low, 3)}</span>
            <span class="ramp" />
            <span class="number">{number(groups.high, 3)}</span>
          </span>
        )}
        <span class="mark measured">measured</span>
        <span class="mark batch">on a bench</span>
        <span class="mark best">{objectivesOf(summary).length > 1 ? "on the front" : "best so far"}</span>
        {mapped.x.length < summary.counts.candidates && (
          <span>{`the first ${count(mapped.x.length)} of ${count(summary.counts.candidates)}`}</span>
        )}
      </div>
      {lassoed.length > 0 && <Lassoed places={lassoed} facts={facts} quantity={quantity} onClear={clear} />}
    </section>
  );
}

function wordsOf({ key, belief, features }: Believed, unit: string): string[] {
  const settings = Object.entries(features).map(([column, value]) => `${column} ${cell(value)}`);
  const more = settings.length > 6 ? [`and ${settings.length - 6} more columns`] : [];
  return [key, belief ? measured(belief.mean, belief.std, unit) : "", ...settings.slice(0, 6), ...more];
}

// The arrow keys walk through what matters: what is measured or on a bench, from left to right.
function stopsOf(
  { x, named }: Mapped,
  places: number[][],
  words: (candidate: Believed) => string[],
  open: (place: number) => unknown,
) {
  const seen = new Set<number>();
  const stops = [MEASURED, BENCH].flatMap((series) =>
    (places[series] ?? []).flatMap((place, index) => {
      const candidate = named.get(place);
      if (!candidate || seen.has(place)) return [];
      seen.add(place);
      return [{ series, index, place, words: words(candidate).join(", "), pick: () => open(place) }];
    }),
  );
  return stops.sort((a, b) => (x[a.place] ?? 0) - (x[b.place] ?? 0));
}

type Drawn = { mapped: Mapped; across: ReturnType<typeof scaleOf>; up: ReturnType<typeof scaleOf> };

// The places of the candidates inside a polygon, as they are drawn.
function inside(polygon: [number, number][], { mapped, across, up }: Drawn): number[] {
  const [xs, ys] = [placed(mapped.x, across, 1), placed(mapped.y, up, 2)];
  const found: number[] = [];
  xs.forEach((x, place) => {
    if (isInside(x, ys[place] ?? 0, polygon)) found.push(place);
  });
  return found;
}

interface LassoedProps {
  places: number[];
  facts: Facts;
  quantity: Quantity;
  onClear: () => void;
}

const MOST_LISTED = 200;

function Lassoed({ places, facts: { name }, quantity, onClear }: LassoedProps) {
  const { data } = useRead(() => readPlaces(name, places.slice(0, MOST_LISTED)), [name, places]);
  const save = async () => {
    const listed = (await readPlaces(name, places)).map((candidate) => ofQuantity(candidate, quantity));
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
        <h3>{`${plural(places.length, "candidate")} in the lasso`}</h3>
        <span class="push" />
        <button type="button" class="small" onClick={save}>
          CSV
        </button>
        <button type="button" class="small" onClick={onClear}>
          Clear
        </button>
      </div>
      <ul class="key-list">
        {(data ?? [])
          .map((candidate) => ofQuantity(candidate, quantity))
          .map(({ key, belief }) => (
            <li key={key}>
              <KeyLink study={name} id={key} />
              {belief && <span class="quiet small number">{measured(belief.mean, belief.std, quantity.unit)}</span>}
            </li>
          ))}
      </ul>
      {places.length > MOST_LISTED && (
        <p class="quiet small">
          {`The first ${MOST_LISTED} are listed. The CSV file has all ${count(places.length)}.`}
        </p>
      )}
    </section>
  );
}
