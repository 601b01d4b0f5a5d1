// How the expectation runs along two columns at once.

import { useMemo } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import { number, plural, withUnit } from "../../core/format.ts";
import type { Column } from "../../core/types.ts";
import type { Believed } from "./believed.ts";
import { useFacts } from "./facts.ts";
import { groupsOf, tilesOf } from "./insight_data.ts";

interface TilesProps {
  across: Column;
  up: Column;
  predicted: Believed[];
}

export function TilesChart({ across, up, predicted }: TilesProps) {
  const { summary } = useFacts();
  const { tiles, rows, columns } = useMemo(
    () => ({
      tiles: tilesOf(across, up, predicted),
      columns: groupsOf(across, predicted).map(({ label }) => label),
      rows: groupsOf(up, predicted).map(({ label }) => label),
    }),
    [across, up, predicted],
  );
  const means = tiles.map(({ mean }) => mean);
  const words = (index: number) => {
    const tile = tiles[index];
    if (!tile) return [];
    return [
      `${across.name} ${tile.across}, ${up.name} ${tile.up}`,
      `expected ${withUnit(number(tile.mean), summary.unit)} on average`,
      `uncertainty ± ${withUnit(number(tile.std, 2), summary.unit)} for one of them`,
      plural(tile.count, "candidate"),
    ];
  };
  const option = (theme: Theme) => ({
    ...frame(theme),
    xAxis: axis(theme, false, { name: across.name, type: "category", data: columns }),
    yAxis: axis(theme, true, { name: up.name, type: "category", data: rows, split: false }),
    visualMap: {
      show: false,
      min: Math.min(...means),
      max: Math.max(...means),
      inRange: { color: summary.direction === "minimize" ? [...theme.ramp].reverse() : theme.ramp },
    },
    series: [
      {
        type: "heatmap",
        itemStyle: { borderColor: theme.surface, borderWidth: 2, borderRadius: 4 },
        data: tiles.map((tile) => [columns.indexOf(tile.across), rows.indexOf(tile.up), tile.mean]),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
    ],
  });
  const chart = (
    <Chart
      rich
      title={`Expected value by ${across.name} and ${up.name}`}
      facts={[tiles, columns, rows]}
      empty={tiles.length ? undefined : "Nothing to compare yet."}
      stops={tiles.map((_, index) => ({ series: 0, index, words: words(index).join(", ") }))}
      picture={`slice-${across.name}-${up.name}`}
      option={option}
    />
  );
  if (!tiles.length) return chart;
  return (
    <>
      {chart}
      <div class="legend">
        <span>{withUnit(`expected ${summary.objective}`, summary.unit && `(${summary.unit})`)}</span>
        <span class="scale">
          <span class="number">{number(Math.min(...means), 3)}</span>
          <span class={summary.direction === "minimize" ? "ramp reversed" : "ramp"} />
          <span class="number">{number(Math.max(...means), 3)}</span>
        </span>
        <span>{`uncertainty of one candidate: ${uncertaintyWords(tiles, summary.unit)}`}</span>
      </div>
    </>
  );
}

function uncertaintyWords(tiles: { std: number }[], unit: string): string {
  const all = tiles.map(({ std }) => std);
  const [least, most] = [number(Math.min(...all), 2), number(Math.max(...all), 2)];
  return least === most ? `± ${withUnit(least, unit)}` : `± ${least} to ${withUnit(most, unit)}`;
}
