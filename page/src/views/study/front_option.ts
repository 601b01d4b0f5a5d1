// How the front is drawn: what is measured, on the front, expected there, and under way; limits as dashed lines.

import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { measured, percent, withUnit } from "../../core/format.ts";
import { constraintsOn, isFeasible, quantityTitle } from "../../core/quantities.ts";
import type { Front, Quantity, Study, Suggestion, Trace } from "../../core/types.ts";
import type { Result } from "./facts.ts";

type Group = "measured" | "refused" | "expected" | "pending" | "front";

export interface Dot {
  group: Group;
  key: string;
  values: Record<string, number>;
  std: Record<string, number>;
  note: string;
}

// In the order in which they are drawn: the front lies on top.
export const GROUPS: { group: Group; words: string }[] = [
  { group: "measured", words: "measured" },
  { group: "refused", words: "measured, not good enough" },
  { group: "expected", words: "expected on the front" },
  { group: "pending", words: "on a bench, as expected" },
  { group: "front", words: "measured front" },
];

const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

// The measured candidates with the mean of each quantity.
function means(results: Result[]): Map<string, Record<string, number>> {
  const gathered = new Map<string, Record<string, number[]>>();
  for (const { key, values } of results) {
    const known = gathered.get(key) ?? {};
    for (const [name, { value }] of Object.entries(values)) known[name] = [...(known[name] ?? []), value];
    gathered.set(key, known);
  }
  const averaged = (values: Record<string, number[]>) =>
    Object.fromEntries(Object.entries(values).map(([name, list]) => [name, average(list)]));
  return new Map([...gathered].map(([key, values]) => [key, averaged(values)]));
}

export function dotsOf(study: Study, front: Front, results: Result[], pending: Suggestion[]): Dot[] {
  const best = new Set(front.measured.map(({ key }) => key));
  const known = [...means(results)].filter(([key]) => !best.has(key));
  const plain = (group: Group, key: string, values: Record<string, number>, note = ""): Dot => ({
    group,
    key,
    values,
    std: {},
    note,
  });
  const numbers = (suggestion: Suggestion, part: "mean" | "std") =>
    Object.fromEntries(Object.entries(suggestion.why.quantities).map(([name, expected]) => [name, expected[part]]));
  return [
    ...known.map(([key, values]) => plain(isFeasible(study, values) ? "measured" : "refused", key, values)),
    ...front.expected
      .filter(({ key }) => !best.has(key))
      .map(({ key, values, std, chance }): Dot => {
        const note = chance === null ? "" : `${percent(chance)} chance of being on the front`;
        return { group: "expected", key, values, std, note };
      }),
    ...pending.map(
      (suggestion): Dot => ({
        group: "pending",
        key: suggestion.key,
        values: numbers(suggestion, "mean"),
        std: numbers(suggestion, "std"),
        note: "on a bench",
      }),
    ),
    ...front.measured.map(({ key, values }) => plain("front", key, values, "on the measured front")),
  ];
}

export function wordsOf({ key, values, std, note }: Dot, quantities: Quantity[]): string[] {
  const lines = quantities
    .filter(({ name }) => name in values)
    .map(({ name, unit }) => `${name} ${measured(values[name] ?? 0, std[name], unit)}`);
  return [key, ...lines, note].filter(Boolean);
}

interface FrontOptions {
  across: Quantity;
  up: Quantity;
  study: Study;
  quantities: Quantity[];
}

function symbolOf(theme: Theme, group: Group): object {
  if (group === "front") return { symbolSize: 11, itemStyle: { color: theme.accent } };
  if (group === "expected")
    return { symbolSize: 8, itemStyle: { color: "transparent", borderColor: theme.accent, borderWidth: 1.5 } };
  if (group === "pending")
    return { symbol: "diamond", symbolSize: 11, itemStyle: { color: theme.warn, borderColor: theme.surface } };
  if (group === "refused")
    return {
      symbol: "path://M0 0L10 10M10 0L0 10",
      symbolSize: 8,
      itemStyle: { color: "transparent", borderColor: theme.point, borderWidth: 1.5 },
    };
  return { symbolSize: 7, itemStyle: { color: theme.point, opacity: 0.8 } };
}

export function frontOption(theme: Theme, groups: Dot[][], { across, up, study, quantities }: FrontOptions): object {
  const limits = [...lines(study, across).map((xAxis) => ({ xAxis })), ...lines(study, up).map((yAxis) => ({ yAxis }))];
  return {
    ...frame(theme),
    xAxis: axis(theme, false, { name: quantityTitle(across), split: true }),
    yAxis: axis(theme, true, { name: quantityTitle(up) }),
    dataZoom: [
      { type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
      { type: "inside", yAxisIndex: 0, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
    ],
    series: GROUPS.map(({ group, words }, position) => ({
      name: words,
      type: "scatter",
      cursor: "pointer",
      z: position + 2,
      ...symbolOf(theme, group),
      emphasis: { scale: 1.8 },
      data: (groups[position] ?? []).map(({ key, values }) => ({ value: [values[across.name], values[up.name]], key })),
      tooltip: {
        formatter: ({ dataIndex }: { dataIndex: number }) => {
          const dot = groups[position]?.[dataIndex];
          return tip(dot ? wordsOf(dot, quantities) : []);
        },
      },
      markLine:
        position === 0 && limits.length
          ? {
              silent: true,
              symbol: "none",
              label: { show: false },
              lineStyle: { color: theme.warn, type: "dashed", width: 1.25 },
              data: limits,
            }
          : undefined,
    })),
  };
}

const lines = (study: Study, { name }: Quantity): number[] =>
  constraintsOn(study, name).flatMap(({ at_least: least, at_most: most }) =>
    [least, most].filter((limit): limit is number => limit != null),
  );

interface Volume {
  points: Trace["hypervolume"];
  unit: string;
  words: (index: number) => string[];
}

export function volumeOption(theme: Theme, { points, unit, words }: Volume): object {
  return {
    ...frame(theme),
    xAxis: axis(theme, false, { name: "result", whole: true, min: "dataMin", max: "dataMax" }),
    yAxis: axis(theme, true, { name: withUnit("covered", unit && `(${unit})`), scale: false }),
    series: [
      {
        type: "line",
        step: "end",
        symbol: "circle",
        symbolSize: 5,
        itemStyle: { color: theme.accent },
        lineStyle: { color: theme.accent, width: 2.25 },
        areaStyle: { color: theme.soft, opacity: 0.8 },
        data: points.map(({ observation, hypervolume }) => [observation, hypervolume]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  };
}
