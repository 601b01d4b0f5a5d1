// The charts of the insights.

import type { EChartsType } from "echarts/core";
import { useMemo } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { axis, frame, shortened, type Theme, tip } from "../../charts/theme.ts";
import { cell, number, percent, plural, withUnit } from "../../core/format.ts";
import type { Column } from "../../core/types.ts";
import type { Believed } from "./believed.ts";
import { useFacts } from "./facts.ts";
import { groupsOf, type Importance } from "./insight_data.ts";

interface ImportanceProps {
  shares: Importance[];
  onPick: (column: Column) => void;
}

const MOST_BARS = 15;
const FEW_BARS = 8; // more of them need a taller chart
const MOST_LETTERS = 22;

export function ImportanceChart({ shares, onPick }: ImportanceProps) {
  const shown = shares.slice(0, MOST_BARS).reverse(); // the first category is at the foot
  const words = (index: number) => [
    shown[index]?.column.name,
    `decides ${percent(shown[index]?.share ?? 0)} of the differences`,
  ];
  return (
    <Chart
      title="Which columns matter"
      height={shown.length > FEW_BARS ? "tall" : "middle"}
      facts={[shares]}
      empty={shown.length ? undefined : "Nothing to compare yet."}
      stops={shown.map((_, index) => ({ series: 0, index, words: words(index).join(" ") }))}
      onPick={({ dataIndex }) => shown[dataIndex] && onPick(shown[dataIndex].column)}
      option={(theme: Theme) => ({
        ...frame(theme),
        grid: { left: 8, right: 20, top: 8, bottom: 42, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
        xAxis: axis(theme, false, {
          name: "share of the differences",
          scale: false,
          split: true,
          format: (value) => percent(value),
        }),
        yAxis: {
          ...axis(theme, true, { type: "category", data: shown.map(({ column }) => column.name), split: false }),
          axisLabel: {
            color: theme.ink,
            fontSize: theme.size,
            interval: 0,
            formatter: (name: string) => shortened(name, MOST_LETTERS),
          },
        },
        series: [
          {
            type: "bar",
            barMaxWidth: 20,
            cursor: "pointer",
            itemStyle: { color: theme.accent, borderRadius: [0, 3, 3, 0] },
            data: shown.map(({ share }) => share),
            tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
          },
        ],
      })}
    />
  );
}

export function SliceChart({ column, predicted }: { column: Column; predicted: Believed[] }) {
  const { summary } = useFacts();
  const groups = useMemo(() => groupsOf(column, predicted), [column, predicted]);
  const unit = summary.unit;
  const words = (index: number) => {
    const group = groups[index];
    if (!group) return [];
    return [
      `${column.name} ${group.label}`,
      `expected ${withUnit(number(group.mean), unit)} on average`,
      `four of five between ${number(group.low, 3)} and ${number(group.high, 3)}`,
      plural(group.count, "candidate"),
    ];
  };
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: {
      ...axis(theme, false, { name: column.name, type: "category", data: groups.map(({ label }) => label) }),
      boundaryGap: column.kind !== "number",
    },
    yAxis: axis(theme, true, { name: withUnit(summary.objective || "value", unit && `(${unit})`) }),
    series: [
      {
        type: "line",
        stack: "band",
        symbol: "none",
        silent: true,
        lineStyle: { opacity: 0 },
        data: groups.map(({ low }) => low),
        tooltip: { show: false },
      },
      {
        type: "line",
        stack: "band",
        symbol: "none",
        silent: true,
        lineStyle: { opacity: 0 },
        areaStyle: { color: theme.soft },
        data: groups.map(({ low, high }) => high - low),
        tooltip: { show: false },
      },
      {
        type: "line",
        symbol: "circle",
        symbolSize: 8,
        itemStyle: { color: theme.accent },
        lineStyle: { color: theme.accent, width: 2.25, opacity: column.kind === "number" ? 1 : 0 },
        data: groups.map(({ mean }) => mean),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  });
  return (
    <Chart
      title={`Expected value by ${column.name}`}
      facts={[groups]}
      empty={groups.length ? undefined : "Nothing to compare yet."}
      stops={groups.map((_, index) => ({ series: 2, index, words: words(index).join(", ") }))}
      picture={`slice-${column.name}`}
      option={option}
    />
  );
}

interface ParallelProps {
  columns: Column[];
  measured: Believed[];
  onChoose: (chosen: number[] | null) => void;
}

export function ParallelChart({ columns, measured, onChoose }: ParallelProps) {
  const { summary } = useFacts();
  const onReady = (chart: EChartsType) =>
    chart.on("axisareaselected", () => {
      const model = (
        chart as unknown as {
          getModel: () => { getSeries: () => { getRawIndicesByActiveState: (state: string) => number[] }[] };
        }
      ).getModel();
      const active = model.getSeries()[0]?.getRawIndicesByActiveState("active") ?? [];
      onChoose(active.length && active.length < measured.length ? active : null);
    });
  const means = measured.map(({ belief }) => belief?.mean ?? 0);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const title = withUnit(summary.objective || "value", summary.unit && `(${summary.unit})`);
  const words = (index: number) => {
    const candidate = measured[index];
    if (!candidate) return [];
    const cells = columns.map(({ name }) => `${name} ${cell(candidate.features[name])}`);
    return [candidate.key, `expected ${withUnit(number(candidate.belief?.mean), summary.unit)}`, ...cells];
  };
  const option = (theme: Theme) => ({
    ...frame(theme),
    parallel: {
      left: 70,
      right: 70,
      top: 40,
      bottom: 30,
      parallelAxisDefault: {
        nameLocation: "end",
        nameGap: 14,
        nameTextStyle: { color: theme.ink, fontSize: theme.size },
        axisLine: { lineStyle: { color: theme.strong } },
        axisTick: { show: false },
        axisLabel: {
          color: theme.quiet,
          fontSize: 11,
          backgroundColor: theme.surface,
          padding: [2, 5],
          borderRadius: 3,
        },
        areaSelectStyle: { color: theme.soft, borderColor: theme.accent, opacity: 0.6, width: 18 },
      },
    },
    parallelAxis: [
      ...columns.map((column, dim) => ({
        dim,
        name: column.name,
        ...(column.kind === "number"
          ? { type: "value", scale: true }
          : { type: "category", data: column.kind === "text" ? column.levels : ["no", "yes"] }),
      })),
      { dim: columns.length, name: title, type: "value", scale: true },
    ],
    visualMap: {
      show: false,
      dimension: columns.length,
      min: low,
      max: high > low ? high : low + 1,
      inRange: { color: summary.direction === "minimize" ? [...theme.ramp].reverse() : theme.ramp },
    },
    series: [
      {
        type: "parallel",
        lineStyle: { width: 1.5, opacity: 0.7 },
        inactiveOpacity: 0.06,
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
        data: measured.map(({ features, belief }) => [
          ...columns.map(({ name, kind }) => (kind === "number" ? (features[name] ?? "-") : cell(features[name]))),
          belief?.mean,
        ]),
      },
    ],
  });
  return (
    <Chart
      rich
      title="Measured candidates, column by column"
      height="tall"
      facts={[measured, columns.length]}
      empty={measured.length ? undefined : "Nothing is measured yet."}
      onReady={onReady}
      picture="columns"
      option={option}
    />
  );
}
