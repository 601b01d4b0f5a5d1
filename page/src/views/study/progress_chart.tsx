// Every result and the best so far: by result or by time, plain or logarithmic, with failed attempts at the foot.

import { useState } from "preact/hooks";
import { Chart, type Stop } from "../../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { setSearch } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { fullTime, measured, number, withUnit } from "../../core/format.ts";
import { useGet } from "../../core/hooks.ts";
import { directionWords, expectedOf, isSeveral, quantityTitle } from "../../core/quantities.ts";
import type { Bench, Quantity, Summary, Trace } from "../../core/types.ts";
import { batchOf, isBetter } from "../../core/words.ts";
import { Choices, Select } from "../../parts/field.tsx";
import { type Result, useFacts, useResults } from "./facts.ts";

interface Progress {
  observation: number;
  value: number;
  best: number | null; // a quantity that must only be good enough has none
}

interface Dot {
  x: number;
  value: number;
  best: number | null;
  result: Result | undefined;
  observation: number;
}

export function ProgressChart() {
  const { name, summary, trace } = useFacts();
  const [across, setAcross] = useState<"result" | "time">("result");
  const [scale, setScale] = useState<"value" | "log">("value");
  const [chosen, setChosen] = useState("");
  const results = useResults().data ?? [];
  const failed = useGet<Bench>(`${studyApi(name, "/suggestions")}?state=failed`, summary.seq).data?.suggestions ?? [];
  const byNumber = new Map(results.map((result) => [result.observation, result]));
  const timeOf = (result: Result | undefined) => Date.parse(result?.measured_at ?? result?.recorded_at ?? "");
  const quantity = summary.quantities.find(({ name: other }) => other === chosen) ?? summary.quantities[0];
  const dots: Dot[] = progressOf(trace, results, quantity, summary)
    .map(({ observation, value, best }) => {
      const result = byNumber.get(observation);
      return { x: across === "time" ? timeOf(result) : observation, value, best, result, observation };
    })
    .filter((dot) => Number.isFinite(dot.x));
  const repeated = new Set(results.map(({ key }) => key)).size < results.length;
  const lineName = repeated ? "best single result" : "best so far";
  const positive = dots.every((dot) => dot.value > 0);
  const shownScale = positive ? scale : "value";
  const marks = failed.map((suggestion) => ({
    key: suggestion.key,
    x: placeOf(batchOf(suggestion.suggestion) ?? 0, dots),
  }));
  const words = (dot: Dot) => wordsOf(dot, quantity ?? { name: summary.objective, unit: summary.unit });
  const open = (dot?: Dot) => dot?.result && setSearch({ candidate: dot.result.key });
  const stops: Stop[] = dots.map((dot, index) => ({
    series: 1,
    index,
    words: words(dot).join(", "),
    pick: () => open(dot),
  }));
  return (
    <section class="card wide">
      <header>
        <h2>All results and the best so far</h2>
        <span class="quiet small">
          {[directionWords(quantity ?? summary), repeated && "the line follows single results, not means"]
            .filter(Boolean)
            .join("; ")}
        </span>
        <span class="push" />
        {isSeveral(summary) && (
          <Select
            label="Quantity"
            hideLabel
            options={summary.quantities.map(({ name: other }): [string, string] => [other, other])}
            value={quantity?.name ?? ""}
            onChange={setChosen}
          />
        )}
        {dots.length > 1 && (
          <span class="row no-wall">
            <Choices
              label="Horizontal axis"
              options={[
                ["result", "By result"],
                ["time", "By time"],
              ]}
              value={across}
              onChange={setAcross}
            />
            <Choices
              label="Vertical axis"
              options={[
                ["value", "Linear"],
                ["log", "Log"],
              ]}
              value={shownScale}
              disabled={positive ? {} : { log: "A logarithmic axis needs values above zero." }}
              onChange={setScale}
            />
          </span>
        )}
      </header>
      <Chart
        title="Results and the best so far"
        height="tall"
        zoom
        empty={trace.progress.length ? undefined : "The first result will appear here."}
        facts={[dots.length, trace, results, marks.length, across, shownScale, quantity?.name]}
        stops={stops}
        picture={`${name}-results`}
        onPick={({ seriesIndex, dataIndex }) => seriesIndex === 1 && open(dots[dataIndex])}
        option={(theme) => option(theme, dots, marks, { across, scale: shownScale, quantity, words, lineName })}
      />
    </section>
  );
}

// The server says how the first objective went; how the others went is in the results.
function progressOf(trace: Trace, results: Result[], quantity: Quantity | undefined, summary: Summary): Progress[] {
  if (!quantity || quantity.name === summary.quantities[0]?.name) return trace.progress;
  let best: number | null = null;
  return results.flatMap(({ observation, values }): Progress[] => {
    const value = values[quantity.name]?.value;
    if (value === undefined) return [];
    if (quantity.direction && (best === null || isBetter({ direction: quantity.direction }, value, best))) best = value;
    return [{ observation, value, best }];
  });
}

function wordsOf({ value, best, result, observation }: Dot, { name, unit }: Pick<Quantity, "name" | "unit">): string[] {
  const expected = expectedOf(result?.suggested?.why, name);
  return [
    `${withUnit(number(value), unit)}${result ? ` · ${result.key}` : ""}`,
    `result ${observation}${result?.batch ? `, batch ${result.batch}` : ""}`,
    expected ? `expected then ${measured(expected.mean, expected.std, unit)}` : "",
    best === null ? "" : `best so far ${withUnit(number(best), unit)}`,
    result ? fullTime(result.measured_at ?? result.recorded_at) : "",
  ].filter(Boolean);
}

// A failed attempt has no result of its own: it stands after the last one of its batch or of an earlier one.
function placeOf(batch: number, dots: Dot[]): number {
  const before = dots.filter((dot) => (dot.result?.batch ?? 0) <= batch);
  return (before.at(-1) ?? dots[0])?.x ?? 1;
}

interface Options {
  across: "result" | "time";
  scale: "value" | "log";
  quantity: Quantity | undefined;
  words: (dot: Dot) => string[];
  lineName: string;
}

function option(theme: Theme, dots: Dot[], failed: { key: string; x: number }[], options: Options): object {
  const { across, scale, quantity, words, lineName } = options;
  const lowest = Math.min(...dots.map((dot) => dot.value));
  const improved = (index: number) =>
    dots[index]?.best !== null && (index === 0 || dots[index]?.best !== dots[index - 1]?.best);
  const { grid, ...shared } = frame(theme);
  return {
    ...shared,
    grid: { ...grid, top: 50 }, // the name of the line stands between that of the axis and the line
    xAxis: axis(theme, false, {
      name: across === "time" ? "time of the measurement" : "result",
      type: across === "time" ? "time" : "value",
      whole: true,
      min: "dataMin",
      max: "dataMax",
    }),
    yAxis: axis(theme, true, {
      name: quantityTitle(quantity ?? { name: "value", unit: "" }),
      type: scale,
      gap: 28,
    }),
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false }],
    series: [
      {
        name: lineName,
        type: "line",
        step: "end",
        symbol: "none",
        silent: true,
        lineStyle: { color: theme.accent, width: 2.25 },
        endLabel: {
          show: dots.length > 1 && dots.at(-1)?.best !== null,
          formatter: lineName,
          color: theme.accent,
          fontSize: theme.size,
          fontWeight: 600,
          align: "right",
          offset: [-4, -14],
        },
        data: dots.map((dot) => [dot.x, dot.best]),
        tooltip: { show: false },
      },
      {
        name: "results",
        type: "scatter",
        symbolSize: 7,
        cursor: "pointer",
        data: dots.map((dot, index) => ({
          value: [dot.x, dot.value],
          itemStyle: { color: improved(index) ? theme.accent : theme.point, opacity: improved(index) ? 1 : 0.8 },
          symbolSize: improved(index) ? 9 : 7,
        })),
        tooltip: {
          formatter: ({ dataIndex }: { dataIndex: number }) => tip(dots[dataIndex] ? words(dots[dataIndex]) : []),
        },
      },
      {
        name: "failed",
        type: "scatter",
        symbol: "path://M0 0L10 10M10 0L0 10",
        symbolSize: 9,
        itemStyle: { color: "transparent", borderColor: theme.bad, borderWidth: 1.75 },
        data: failed.map(({ x }) => [x, lowest]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip([`${failed[dataIndex]?.key} failed`]) },
      },
    ],
  };
}
