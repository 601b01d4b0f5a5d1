// Every result and the best so far: by result or by time, plain or logarithmic, with failed attempts at the foot.

import { useState } from "preact/hooks";
import { Chart, type Stop } from "../../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { setSearch } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { fullTime, measured, number, withUnit } from "../../core/format.ts";
import { useGet } from "../../core/hooks.ts";
import type { Bench, Summary } from "../../core/types.ts";
import { batchOf } from "../../core/words.ts";
import { Choices } from "../../parts/field.tsx";
import { type Result, useFacts, useResults } from "./facts.ts";

interface Dot {
  x: number;
  value: number;
  best: number;
  result: Result | undefined;
  observation: number;
}

export function ProgressChart() {
  const { name, summary, trace } = useFacts();
  const [across, setAcross] = useState<"result" | "time">("result");
  const [scale, setScale] = useState<"value" | "log">("value");
  const results = useResults().data ?? [];
  const failed = useGet<Bench>(`${studyApi(name, "/suggestions")}?state=failed`, summary.seq).data?.suggestions ?? [];
  const byNumber = new Map(results.map((result) => [result.observation, result]));
  const timeOf = (result: Result | undefined) => Date.parse(result?.measured_at ?? result?.recorded_at ?? "");
  const dots: Dot[] = trace.progress
    .map(({ observation, value, best }) => {
      const result = byNumber.get(observation);
      return { x: across === "time" ? timeOf(result) : observation, value, best, result, observation };
    })
    .filter((dot) => Number.isFinite(dot.x));
  const positive = dots.every((dot) => dot.value > 0);
  const shownScale = positive ? scale : "value";
  const marks = failed.map((suggestion) => ({
    key: suggestion.key,
    x: placeOf(batchOf(suggestion.suggestion) ?? 0, dots),
  }));
  const words = (dot: Dot) => wordsOf(dot, summary);
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
        <span class="quiet small">{summary.direction === "minimize" ? "smaller is better" : "larger is better"}</span>
        <span class="push" />
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
            {positive && (
              <Choices
                label="Vertical axis"
                options={[
                  ["value", "Linear"],
                  ["log", "Log"],
                ]}
                value={scale}
                onChange={setScale}
              />
            )}
          </span>
        )}
      </header>
      <Chart
        title="Results and the best so far"
        height="tall"
        empty={trace.progress.length ? undefined : "The first result will appear here."}
        facts={[dots.length, trace, results, marks.length, across, shownScale]}
        stops={stops}
        picture={`${name}-results`}
        onPick={({ seriesIndex, dataIndex }) => seriesIndex === 1 && open(dots[dataIndex])}
        option={(theme) => option(theme, dots, marks, { across, scale: shownScale, summary, words })}
      />
    </section>
  );
}

function wordsOf({ value, best, result, observation }: Dot, { unit }: Summary): string[] {
  const why = result?.suggested?.why;
  return [
    `${withUnit(number(value), unit)}${result ? ` · ${result.key}` : ""}`,
    `result ${observation}${result?.batch ? `, batch ${result.batch}` : ""}`,
    why && why.mean !== null ? `expected then ${measured(why.mean, why.std, unit)}` : "",
    `best so far ${withUnit(number(best), unit)}`,
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
  summary: Summary;
  words: (dot: Dot) => string[];
}

function option(theme: Theme, dots: Dot[], failed: { key: string; x: number }[], options: Options): object {
  const { across, scale, summary, words } = options;
  const lowest = Math.min(...dots.map((dot) => dot.value));
  const improved = (index: number) => index === 0 || dots[index]?.best !== dots[index - 1]?.best;
  return {
    ...frame(theme),
    xAxis: axis(theme, false, {
      name: across === "time" ? "time of the measurement" : "result",
      type: across === "time" ? "time" : "value",
      whole: true,
      min: "dataMin",
      max: "dataMax",
    }),
    yAxis: axis(theme, true, {
      name: withUnit(summary.objective || "value", summary.unit && `(${summary.unit})`),
      type: scale,
    }),
    dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false }],
    series: [
      {
        name: "best so far",
        type: "line",
        step: "end",
        symbol: "none",
        silent: true,
        lineStyle: { color: theme.accent, width: 2.25 },
        endLabel: {
          show: dots.length > 1,
          formatter: "best so far",
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
