// How the batches went: how much better another candidate could be, their sizes, and the model behind them.

import { Chart, type Stop } from "../../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { difference, differenceUnit, fullTime, number, plural, withUnit } from "../../core/format.ts";
import { endedWords, improvement } from "../../core/words.ts";
import { useFacts } from "./facts.ts";

type Words = (index: number) => string[];
const formatter =
  (words: Words) =>
  ({ dataIndex }: { dataIndex: number }) =>
    tip(words(dataIndex));
const stopsOf = (length: number, series: number, words: Words): Stop[] =>
  Array.from({ length }, (_, index) => ({ series, index, words: words(index).join(", ") }));

export function BoundChart() {
  const { name, summary, trace } = useFacts();
  const { unit, certificate } = summary;
  const points = trace.batches
    .filter((batch) => batch.regret_bound !== null)
    .map((batch) => ({
      x: String(batch.number),
      y: batch.regret_bound ?? 0,
      label: `when batch ${batch.number} was issued`,
    }));
  if (certificate) points.push({ x: "now", y: certificate.regret_bound, label: "now" });
  const words: Words = (index) => [difference(points[index]?.y ?? 0, unit), points[index]?.label ?? ""];
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: {
      ...axis(theme, false, { name: "when the batch was issued", type: "category", data: points.map(({ x }) => x) }),
      boundaryGap: false,
    },
    yAxis: axis(theme, true, { name: withUnit("better by up to", unit && `(${differenceUnit(unit)})`), scale: false }),
    series: [
      {
        type: "line",
        symbol: "circle",
        symbolSize: 6,
        itemStyle: { color: theme.accent },
        lineStyle: { color: theme.accent, width: 2.25 },
        areaStyle: { color: theme.soft, opacity: 0.8 },
        data: points.map(({ y }) => y),
        tooltip: { formatter: formatter(words) },
      },
    ],
  });
  return (
    <Chart
      title="A cautious limit on what is left to gain"
      empty={points.length ? undefined : "Appears with the first result."}
      facts={[summary, trace]}
      stops={stopsOf(points.length, 0, words)}
      picture={`${name}-possible-improvement`}
      option={option}
    />
  );
}

export function SizesChart() {
  const { name, trace } = useFacts();
  const { batches } = trace;
  const words: Words = (index) => {
    const batch = batches[index];
    if (!batch) return [];
    return [
      `${plural(batch.size, "measurement")} · batch ${batch.number}`,
      endedWords(batch.ended),
      `${batch.worker}, ${fullTime(batch.created_at)}`,
    ];
  };
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: "batch", type: "category", data: batches.map((batch) => String(batch.number)) }),
    yAxis: axis(theme, true, { name: "measurements", scale: false, whole: true }),
    series: [
      {
        type: "bar",
        barMaxWidth: 34,
        data: batches.map((batch) => ({
          value: batch.size,
          itemStyle: { color: batch.ended === "rule" ? theme.accent : theme.faint, borderRadius: [3, 3, 0, 0] },
        })),
        tooltip: { formatter: formatter(words) },
      },
    ],
  });
  return (
    <Chart
      title="Measurements in each batch"
      empty={batches.length ? undefined : "No batch yet."}
      facts={[trace]}
      stops={stopsOf(batches.length, 0, words)}
      picture={`${name}-batch-sizes`}
      option={option}
    />
  );
}

export function ModelChart() {
  const { trace } = useFacts();
  const { batches } = trace;
  const words: Words = (index) => {
    const batch = batches[index];
    if (!batch) return [];
    const dimension = `effective dimension ${number(batch.effective_dimension, 3)}`;
    return [`Batch ${batch.number}`, plural(batch.dictionary, "reference point"), dimension];
  };
  const line = (label: string, colour: string, values: number[], above: boolean) => ({
    name: label,
    type: "line",
    symbolSize: 5,
    itemStyle: { color: colour },
    lineStyle: { color: colour, width: 2 },
    endLabel: { show: true, formatter: label, color: colour, align: "right", offset: [-4, above ? -12 : 14] },
    data: values,
    tooltip: { formatter: formatter(words) },
  });
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: "batch", type: "category", data: batches.map((batch) => String(batch.number)) }),
    yAxis: axis(theme, true, { name: "points, dimensions", scale: false, whole: true }),
    series: [
      line(
        "effective dimension",
        theme.accent,
        batches.map((batch) => batch.effective_dimension),
        false,
      ),
      line(
        "reference points",
        theme.quiet,
        batches.map((batch) => batch.dictionary),
        true,
      ),
    ],
  });
  return (
    <Chart
      title="Model"
      empty={batches.length ? undefined : "No batch yet."}
      facts={[trace]}
      stops={stopsOf(batches.length, 0, words)}
      option={option}
    />
  );
}

export const boundWords = (bound: number | null, unit: string): string =>
  bound === null ? "–" : improvement(bound, unit);
