// The best so far of simulated studies: the median of each way of choosing, and the band of four of five studies.

import { Chart } from "../../charts/chart.tsx";
import { axis, frame, swatchColours, type Theme, tip } from "../../charts/theme.ts";
import { number, withUnit } from "../../core/format.ts";
import type { Backtest } from "../../core/types.ts";

type Simulated = NonNullable<Backtest["result"]>;
type Choice = Simulated["choices"][number];

export const choiceName = ({ choice, batch_size: size }: Choice): string => {
  if (choice === "random") return "Random choice";
  return size === 1 ? "One at a time" : `Batches of ${size}`;
};

interface ChartProps {
  result: Simulated;
  unit: string;
  objective: string;
  picture: string;
}

export function BacktestChart({ result, unit, objective, picture }: ChartProps) {
  const { choices, best, within } = result;
  const guided = choices.filter(({ choice }) => choice === "study").length;
  const words = (choice: Choice, index: number) => {
    const point = choice.curve[index];
    if (!point) return [];
    return [
      `${choiceName(choice)}, ${point.measurements} measurements`,
      `best so far ${withUnit(number(point.median), unit)} in the median`,
      `four of five studies: ${number(point.low)} to ${withUnit(number(point.high), unit)}`,
    ];
  };
  const first = choices[0]?.curve ?? [];
  const rising = (first.at(-1)?.median ?? 0) >= (first[0]?.median ?? 0);
  const goal = rising ? best - within : best + within;
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: "measurements", whole: true, min: "dataMin", max: "dataMax" }),
    yAxis: axis(theme, true, { name: withUnit(`best ${objective} so far`, unit && `(${unit})`) }),
    series: choices.flatMap((choice, position) => seriesOf(theme, choice, position, { goal, words, guided })),
  });
  const stops = choices.flatMap((choice, position) =>
    choice.curve.map((_, index) => ({ series: 3 * position + 2, index, words: words(choice, index).join(", ") })),
  );
  return (
    <Chart
      title="Best so far of simulated studies"
      height="tall"
      facts={[result]}
      stops={stops}
      picture={picture}
      option={option}
    />
  );
}

interface Drawn {
  goal: number;
  words: (choice: Choice, index: number) => string[];
  guided: number; // how many lines there are besides random choice
}

const LINE = 2.25;

function seriesOf(theme: Theme, choice: Choice, position: number, { goal, words, guided }: Drawn): object[] {
  const random = choice.choice === "random";
  const colour = random ? theme.quiet : swatchColours(theme)[position % 5];
  const band = (data: unknown[], area: object = {}) => ({
    type: "line",
    stack: `band ${position}`,
    stackStrategy: "all",
    symbol: "none",
    silent: true,
    lineStyle: { opacity: 0 },
    data,
    tooltip: { show: false },
    ...area,
  });
  const { curve } = choice;
  return [
    band(curve.map(({ measurements, low }) => [measurements, low])),
    band(
      curve.map(({ measurements, low, high }) => [measurements, high - low]),
      { areaStyle: { color: colour, opacity: 0.12 } },
    ),
    {
      name: choiceName(choice),
      type: "line",
      symbol: "circle",
      symbolSize: 5,
      itemStyle: { color: colour },
      // Wider below, so that lines which coincide are all seen.
      lineStyle: {
        color: colour,
        width: random ? LINE : LINE + 1.75 * (guided - 1 - position),
        type: random ? "dashed" : "solid",
      },
      data: curve.map(({ measurements, median }) => [measurements, median]),
      tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(choice, dataIndex)) },
      ...(position ? {} : { markLine: goalLine(theme, goal) }),
    },
  ];
}

const goalLine = (theme: Theme, goal: number) => ({
  silent: true,
  symbol: "none",
  lineStyle: { color: theme.strong, type: "dotted", width: 1.5 },
  label: {
    formatter: "good enough",
    position: "insideEndBottom",
    color: theme.ink,
    backgroundColor: theme.surface,
    padding: [2, 6],
    borderRadius: 4,
    fontSize: theme.size,
  },
  data: [{ yAxis: goal }],
});
