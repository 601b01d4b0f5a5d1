// The lines of several studies over one another; the table below has their names beside their colours.

import { Chart } from "../charts/chart.tsx";
import { axis, frame, swatchColours, type Theme, tip } from "../charts/theme.ts";
import { number, percent, plural, withUnit } from "../core/format.ts";

export interface ComparedLine {
  name: string;
  unit: string;
  points: number[];
  before?: number; // results before the first point
  days?: number[]; // since the first result, if the chart is about time
}

const DASHES = ["solid", "dashed", "dotted"];
const MANY = 120; // results of one study, from which no dots are drawn

// The line of one study, with its name at the end.
const lineStyleOf = (theme: Theme, { name }: ComparedLine, position: number) => {
  const colours = swatchColours(theme);
  const colour = colours[position % colours.length];
  return {
    name,
    type: "line",
    step: "end",
    symbolSize: 5,
    itemStyle: { color: colour },
    lineStyle: { width: 2.25, type: DASHES[Math.floor(position / colours.length) % DASHES.length] },
    endLabel: { show: true, formatter: name, color: colour, fontSize: theme.size, align: "right", offset: [-4, -12] },
    labelLayout: { moveOverlap: "shiftY" },
  };
};

interface ChartProps {
  lines: ComparedLine[];
  title: string;
  log: boolean;
}

export function CompareChart({ lines, title, log }: ChartProps) {
  const timed = lines.some(({ days }) => days);
  const words = ({ name, unit, points, before = 0, days }: ComparedLine, index: number) => [
    name,
    `${withUnit(number(points[index]), unit)} after ${plural(before + index + 1, "result")}`,
    ...(days ? [`${number(days[index], 3)} days after the first`] : []),
  ];
  const option = (theme: Theme) => {
    return {
      ...frame(theme),
      xAxis: timed
        ? axis(theme, false, { name: "days since the first result", min: 0, max: "dataMax" })
        : axis(theme, false, { name: "result", whole: true, min: 1, max: "dataMax" }),
      yAxis: axis(theme, true, { name: title, type: log ? "log" : "value" }),
      series: lines.map((line, position) => ({
        ...lineStyleOf(theme, line, position),
        showSymbol: line.points.length < MANY,
        data: line.points.map((best, index) => [line.days?.[index] ?? (line.before ?? 0) + index + 1, best]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(line, dataIndex)) },
      })),
    };
  };
  return (
    <Chart
      title="Best so far of several studies"
      height="tall"
      facts={[lines, title, log]}
      empty={lines.length ? undefined : "Choose a study below."}
      stops={lines.flatMap((line, series) =>
        line.points.map((_, index) => ({ series, index, words: words(line, index).join(", ") })),
      )}
      picture="compared-studies"
      option={option}
    />
  );
}

// How many of the results of each study lie at or below a value. A curve further to the right has larger results.
export function DistributionChart({ lines, title, log }: ChartProps) {
  const share = ({ points }: ComparedLine, index: number) => (index + 1) / points.length;
  const words = (line: ComparedLine, index: number) => [
    line.name,
    `${percent(share(line, index))} of ${line.points.length} results are at most ${withUnit(number(line.points[index]), line.unit)}`,
  ];
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: title, type: log ? "log" : "value" }),
    yAxis: axis(theme, true, { name: "share of the results", min: 0, max: 1, interval: 0.25, format: percent }),
    series: lines.map((line, position) => ({
      ...lineStyleOf(theme, line, position),
      showSymbol: line.points.length < MANY,
      endLabel: { show: false }, // all lines end at the top
      data: line.points.map((value, index) => [value, share(line, index)]),
      tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(line, dataIndex)) },
    })),
  });
  return (
    <Chart
      title="Distribution of the results of several studies"
      height="tall"
      facts={[lines, title, log]}
      empty={lines.length ? undefined : "Choose a study below."}
      stops={lines.flatMap((line, series) =>
        line.points.map((_, index) => ({ series, index, words: words(line, index).join(", ") })),
      )}
      picture="distribution-of-results"
      option={option}
    />
  );
}
