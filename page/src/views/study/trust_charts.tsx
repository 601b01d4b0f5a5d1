// Whether predictions can be trusted: predicted against observed, and how often the intervals held what they said.

import { Chart } from "../../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { setSearch } from "../../core/address.ts";
import { number, percent, withUnit } from "../../core/format.ts";
import type { Cell, ColumnEffect, Diagnostics } from "../../core/types.ts";
import { useFacts } from "./facts.ts";

export interface Judged {
  key: string;
  observed: number;
  predicted: number;
  lower: number;
  upper: number;
}

interface PredictedProps {
  judged: Judged[];
  chosen: Set<string> | null; // the candidates chosen elsewhere; null for all
  by: string; // what the predictions are made from, in words
}

interface Drawing {
  value: (dimension: number) => number;
  coord: (point: [number, number]) => number[];
}

export function PredictedChart({ judged, chosen, by }: PredictedProps) {
  const { summary } = useFacts();
  const words = (index: number) => {
    const point = judged[index];
    if (!point) return [];
    const { lower, upper } = point;
    return [
      `${point.key}: ${withUnit(number(point.observed), summary.unit)} measured`,
      `${withUnit(number(point.predicted), summary.unit)} predicted ${by}`,
      `between ${number(lower, 3)} and ${number(upper, 3)}`,
    ];
  };
  const ends = judged.flatMap(({ observed, predicted }) => [observed, predicted]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const faded = (key: string) => chosen !== null && !chosen.has(key);
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: withUnit("predicted", summary.unit && `(${summary.unit})`), split: true }),
    yAxis: axis(theme, true, { name: withUnit("measured", summary.unit && `(${summary.unit})`) }),
    series: [
      {
        type: "line",
        silent: true,
        symbol: "none",
        lineStyle: { color: theme.strong, type: "dashed", width: 1.5 },
        data: [
          [low, low],
          [high, high],
        ],
        tooltip: { show: false },
      },
      {
        type: "custom",
        silent: true,
        clip: true,
        renderItem: (_: unknown, api: Drawing) => {
          const [from, to] = [api.coord([api.value(2), api.value(1)]), api.coord([api.value(3), api.value(1)])];
          return {
            type: "line",
            shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
            style: { stroke: theme.point, lineWidth: 1.25, opacity: api.value(4) ? 0.15 : 0.7 },
          };
        },
        data: judged.map(({ key, observed, predicted, lower, upper }) => [
          predicted,
          observed,
          lower,
          upper,
          faded(key) ? 1 : 0,
        ]),
        tooltip: { show: false },
      },
      {
        type: "scatter",
        symbolSize: 8,
        cursor: "pointer",
        data: judged.map(({ key, observed, predicted }) => ({
          value: [predicted, observed],
          itemStyle: { color: theme.accent, opacity: faded(key) ? 0.2 : 1 },
        })),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  });
  const open = (index: number) => judged[index] && setSearch({ candidate: judged[index].key });
  return (
    <Chart
      rich
      title="Predicted against observed"
      facts={[judged, chosen, summary]}
      empty={
        judged.length
          ? undefined
          : "Appears when suggestions of a second batch are measured: the first has no expectations."
      }
      stops={judged.map((_, index) => ({ series: 2, index, words: words(index).join(", "), pick: () => open(index) }))}
      picture="predicted-against-observed"
      onPick={({ seriesIndex, dataIndex }) => seriesIndex === 2 && open(dataIndex)}
      option={option}
    />
  );
}

export function CalibrationCurve({ points }: { points: Diagnostics["calibration"] }) {
  const words = (index: number) => [
    `${percent(points[index]?.covers ?? 0)} of the results`,
    `lie where the model says ${percent(points[index]?.says ?? 0)} should`,
  ];
  const quarters = { min: 0, max: 1, interval: 0.25, format: percent };
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, {
      ...quarters,
      name: "share that should lie inside",
      split: true,
    }),
    yAxis: axis(theme, true, { ...quarters, name: "share that lies inside" }),
    series: [
      {
        type: "line",
        silent: true,
        symbol: "none",
        lineStyle: { color: theme.strong, type: "dashed", width: 1.5 },
        data: [
          [0, 0],
          [1, 1],
        ],
        tooltip: { show: false },
      },
      {
        type: "line",
        symbol: "circle",
        symbolSize: 7,
        itemStyle: { color: theme.accent },
        lineStyle: { color: theme.accent, width: 2.25 },
        data: points.map(({ says, covers }) => [says, covers]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  });
  return (
    <Chart
      title="How often the intervals held"
      facts={[points]}
      empty={points.length ? undefined : "Appears after a few results."}
      stops={points.map((_, index) => ({ series: 1, index, words: words(index).join(" ") }))}
      picture="calibration"
      option={option}
    />
  );
}

export interface MeasuredAt {
  key: string;
  at: Cell; // its value in the column
  value: number;
}

const DOTS = 2; // the series of what was measured: after the two that make the band

// The recommended candidate with other values in one column, with the interval that holds 95 of 100.
export function EffectChart({ effect, measured }: { effect: ColumnEffect; measured: MeasuredAt[] }) {
  const { summary } = useFacts();
  const points = effect.slice;
  const levels = points.map(({ value }) => String(value));
  const numeric = points.every(({ value }) => typeof value === "number");
  const words = (index: number) => {
    const point = points[index];
    if (!point) return [];
    const value = typeof point.value === "number" ? number(point.value) : point.value;
    return [
      `${effect.name} ${value}`,
      `expected ${withUnit(number(point.mean), summary.unit)}`,
      `between ${number(point.lower, 3)} and ${number(point.upper, 3)}`,
    ];
  };
  const measuredWords = (index: number) => {
    const dot = measured[index];
    return dot ? [`${dot.key} · ${withUnit(number(dot.value), summary.unit)}`, `${effect.name} ${dot.at}`] : [];
  };
  const open = (index: number) => setSearch({ candidate: measured[index]?.key ?? null });
  const place = (index: number) => (numeric ? points[index]?.value : index);
  const band = (data: unknown[], area: object = {}) => ({
    type: "line",
    stack: "band",
    stackStrategy: "all",
    symbol: "none",
    silent: true,
    lineStyle: { opacity: 0 },
    data,
    tooltip: { show: false },
    ...area,
  });
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: numeric
      ? axis(theme, false, { name: effect.name, min: "dataMin", max: "dataMax" })
      : axis(theme, false, { name: effect.name, type: "category", data: points.map(({ value }) => String(value)) }),
    yAxis: axis(theme, true, { name: withUnit(summary.objective || "value", summary.unit && `(${summary.unit})`) }),
    series: [
      band(points.map(({ lower }, index) => [place(index), lower])),
      band(
        points.map(({ lower, upper }, index) => [place(index), upper - lower]),
        { areaStyle: { color: theme.soft } },
      ),
      {
        type: "scatter",
        symbolSize: 6,
        cursor: "pointer",
        itemStyle: { color: theme.point, opacity: 0.7 },
        data: measured.map(({ at, value }) => [numeric ? at : levels.indexOf(String(at)), value]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(measuredWords(dataIndex)) },
      },
      {
        type: "line",
        symbol: "circle",
        symbolSize: numeric ? 4 : 9,
        itemStyle: { color: theme.accent },
        lineStyle: { color: theme.accent, width: 2.25, opacity: numeric ? 1 : 0 },
        data: points.map(({ mean }, index) => [place(index), mean]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  });
  return (
    <Chart
      title={`Expected value by ${effect.name}`}
      facts={[effect, measured]}
      empty={points.length ? undefined : "Nothing to compare yet."}
      onPick={({ seriesIndex, dataIndex }) => seriesIndex === DOTS && open(dataIndex)}
      stops={[
        ...measured.map((_, index) => ({
          series: DOTS,
          index,
          words: measuredWords(index).join(", "),
          pick: () => open(index),
        })),
        ...points.map((_, index) => ({ series: DOTS + 1, index, words: words(index).join(", ") })),
      ]}
      picture={`slice-${effect.name}`}
      option={option}
    />
  );
}
