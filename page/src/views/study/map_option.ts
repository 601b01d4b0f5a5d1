// How the map is drawn: axes with ticks and level names, jitter for levels, rings for what is measured or on a bench.

import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import type { Column } from "../../core/types.ts";
import type { Believed } from "./believed.ts";

export interface Dot {
  x: number;
  y: number;
  shade: number | null;
  off: boolean;
  measured: boolean;
  batch: boolean;
  best: boolean;
}

export interface Scale {
  column: Column;
  levels: string[] | null;
  place: (candidate: Believed) => number;
}

const NONE: Column = { name: "", kind: "number", role: "feature", levels: [] };

// A number between 0 and 1 that only depends on the candidate and the axis: independent scatter for both axes.
function jitter(candidate: number, axisNumber: number): number {
  const mixed = Math.imul(candidate + 1, axisNumber === 1 ? 0x9e3779b1 : 0x85ebca6b);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

// Each level gets a lane, with a little scatter so that points do not hide one another.
export function scaleOf(column: Column = NONE, axisNumber: number): Scale {
  const { name, kind } = column;
  if (kind === "number") return { column, levels: null, place: ({ features }) => Number(features[name] ?? Number.NaN) };
  const levels = kind === "text" ? column.levels : ["false", "true"];
  const lane = new Map(levels.map((level, position) => [level, position]));
  const place = ({ features, number: candidate }: Believed) =>
    (lane.get(String(features[name])) ?? -1) + (jitter(candidate, axisNumber) - 0.5) * 0.6;
  return { column, levels, place };
}

function axisFor(theme: Theme, vertical: boolean, scale: Scale | null): object {
  if (!scale) return { ...axis(theme, vertical, { split: false }), show: false };
  const plain = axis(theme, vertical, { name: scale.column.name, split: true });
  if (!scale.levels) return plain;
  const { levels } = scale;
  const names = (value: number) => levels[Math.round(value)] ?? "";
  return {
    ...plain,
    min: -0.5,
    max: levels.length - 0.5,
    interval: 1,
    splitLine: { show: false },
    axisLabel: {
      color: theme.quiet,
      fontSize: theme.size,
      hideOverlap: true,
      formatter: (value: number) => names(value),
      align: vertical ? "right" : "center",
      customValues: levels.map((_, position) => position),
    },
  };
}

interface MapOptions {
  across: Scale | null;
  up: Scale | null;
  low: number;
  high: number;
  words: (position: number) => string[];
}

function sizeFor(count: number): number {
  if (count > 20_000) return 3.5;
  if (count > 4_000) return 5;
  return count > 800 ? 7 : 10;
}

export function mapOption(theme: Theme, dots: Dot[], { across, up, low, high, words }: MapOptions): object {
  const size = sizeFor(dots.length);
  const ring = (colour: string, width: number, more: number, chosen: Dot[]) => ({
    type: "scatter",
    silent: true,
    symbolSize: size + more,
    itemStyle: { color: "transparent", borderColor: colour, borderWidth: width },
    data: chosen.map((dot) => [dot.x, dot.y]),
    tooltip: { show: false },
  });
  return {
    ...frame(theme),
    grid: across
      ? { left: 8, right: 24, top: 36, bottom: 46, outerBoundsMode: "same", outerBoundsContain: "axisLabel" }
      : { left: 14, right: 14, top: 14, bottom: 14 },
    xAxis: axisFor(theme, false, across),
    yAxis: axisFor(theme, true, up),
    dataZoom: [
      { type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
      { type: "inside", yAxisIndex: 0, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false },
    ],
    brush: {
      toolbox: [],
      seriesIndex: 0,
      throttleType: "debounce",
      throttleDelay: 200,
      brushStyle: { color: theme.soft, borderColor: theme.accent, borderWidth: 1.5, opacity: 0.4 },
    },
    visualMap: {
      show: false,
      seriesIndex: 0,
      dimension: 2,
      min: Number.isFinite(low) ? low : 0,
      max: Number.isFinite(high) && high > low ? high : (Number.isFinite(low) ? low : 0) + 1,
      inRange: { color: theme.ramp },
      outOfRange: { color: theme.line },
    },
    series: [
      {
        type: "scatter",
        symbolSize: size,
        progressive: 0, // what is drawn piece by piece cannot be pointed at by the keyboard
        cursor: "pointer",
        data: dots.map((dot) => ({
          value: [dot.x, dot.y, dot.shade ?? Number.NaN],
          itemStyle: dot.off || dot.shade === null ? { color: dot.off ? theme.line : theme.point } : undefined,
          visualMap: dot.off || dot.shade === null ? false : undefined,
        })),
        tooltip: { formatter: ({ dataIndex }: { dataIndex: number }) => tip(words(dataIndex)) },
      },
      ring(
        theme.ink,
        1.25,
        2,
        dots.filter((dot) => dot.measured),
      ),
      ring(
        theme.warn,
        2.5,
        8,
        dots.filter((dot) => dot.batch),
      ),
      {
        type: "scatter",
        silent: true,
        symbol: "path://M12 4l2.4 5 5.6.8-4 3.9.9 5.5L12 16.6l-4.9 2.6.9-5.5-4-3.9 5.6-.8z",
        symbolSize: size + 12,
        itemStyle: { color: theme.warn, borderColor: theme.surface, borderWidth: 1.5 },
        data: dots.filter((dot) => dot.best).map((dot) => [dot.x, dot.y]),
        tooltip: { show: false },
      },
    ],
  };
}
