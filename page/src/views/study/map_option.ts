// How the map is drawn: axes with ticks and level names, jitter for levels, rings for what is measured or on a bench.

import { axis, frame, type Theme, tip } from "../../charts/theme.ts";
import type { Column } from "../../core/types.ts";
import type { Mapped } from "./map_data.ts";

export interface Scale {
  column: Column;
  levels: string[] | null;
}

// A number between 0 and 1 that only depends on the candidate and the axis: independent scatter for both axes.
function jitter(candidate: number, axisNumber: number): number {
  const mixed = Math.imul(candidate + 1, axisNumber === 1 ? 0x9e3779b1 : 0x85ebca6b);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

export function scaleOf(column: Column | undefined): Scale | null {
  if (!column) return null;
  if (column.kind === "number") return { column, levels: null };
  return { column, levels: column.kind === "text" ? column.levels : ["false", "true"] };
}

// Each level gets a lane, with a little scatter so that points do not hide one another.
export const placed = (values: Float32Array, scale: Scale | null, axisNumber: number): Float32Array =>
  scale?.levels ? values.map((lane, candidate) => lane + (jitter(candidate, axisNumber) - 0.5) * 0.6) : values;

interface Ends {
  min: number;
  max: number;
}

// An axis that comes in the place of another keeps whatever it does not set itself: each sets all of these.
function axisFor(theme: Theme, vertical: boolean, scale: Scale | null): object {
  if (!scale) return { ...axis(theme, vertical, { split: false }), show: false };
  const plain = axis(theme, vertical, { name: scale.column.name, split: true }) as { axisLabel: object };
  if (!scale.levels)
    return {
      ...plain,
      show: true,
      // A little room, so that no dot is cut; its ends are no round numbers and have no labels.
      min: ({ min, max }: Ends) => min - 0.03 * (max - min),
      max: ({ min, max }: Ends) => max + 0.03 * (max - min),
      axisLabel: {
        ...plain.axisLabel,
        align: undefined,
        customValues: undefined,
        showMinLabel: false,
        showMaxLabel: false,
      },
    };
  const { levels } = scale;
  return {
    ...plain,
    show: true,
    min: -0.5,
    max: levels.length - 0.5,
    interval: 1,
    splitLine: { show: false },
    axisLabel: {
      color: theme.quiet,
      fontSize: theme.size,
      hideOverlap: true,
      formatter: (value: number) => levels[Math.round(value)] ?? "",
      align: vertical ? "right" : "center",
      showMinLabel: true,
      showMaxLabel: true,
      customValues: levels.map((_, position) => position),
    },
  };
}

// Dots of one colour are one series. So even 100,000 of them are drawn, and drawn anew, at once.
const SHADES = 24;
const MANY = 5_000;
export const [PLAIN, OFF, MEASURED, BENCH, BEST] = [SHADES, SHADES + 1, SHADES + 2, SHADES + 3, SHADES + 4] as const;

export interface Groups {
  places: number[][]; // of the candidates in each series, in the order of the series
  low: number;
  high: number;
}

export function groupsOf({ shade, counts, pending, available }: Mapped, best: number[], marked: Set<number>): Groups {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of shade) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const places: number[][] = Array.from({ length: BEST + 1 }, () => []);
  const step = SHADES / (high - low || 1);
  shade.forEach((value, place) => {
    const off = !available[place] || (marked.size > 0 && !marked.has(place));
    const shaded = Number.isNaN(value) ? PLAIN : Math.min(SHADES - 1, Math.floor((value - low) * step));
    places[off ? OFF : shaded]?.push(place);
    if (counts[place]) places[MEASURED]?.push(place);
    if (pending[place]) places[BENCH]?.push(place);
  });
  places[BEST]?.push(...best);
  return { places, low, high };
}

// The colour of a shade on the ramp, which has a colour at either end and one in the middle.
function shadeColour({ ramp: [low, middle, high] }: Theme, shade: number): string {
  const at = (2 * shade) / (SHADES - 1);
  const [from, to, part] = at < 1 ? [low, middle, at] : [middle, high, at - 1];
  const [start, end] = [partsOf(from), partsOf(to)];
  return `rgb(${start.map((value, position) => Math.round(value + part * ((end[position] ?? 0) - value))).join(", ")})`;
}

const partsOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

interface MapOptions {
  across: Scale | null;
  up: Scale | null;
  words: (place: number, tell: (words: string[]) => void) => string[]; // at once, or told when they are read
}

function sizeFor(count: number): number {
  if (count > 20_000) return 3.5;
  if (count > 4_000) return 5;
  return count > 800 ? 7 : 10;
}

type Told = (ticket: string, content: HTMLElement) => void;

export function mapOption(theme: Theme, mapped: Mapped, { places }: Groups, { across, up, words }: MapOptions): object {
  const size = sizeFor(mapped.x.length);
  const [x, y] = [placed(mapped.x, across, 1), placed(mapped.y, up, 2)];
  const pointsOf = (chosen: number[]) => {
    const points = new Float32Array(2 * chosen.length);
    chosen.forEach((place, position) => {
      points[2 * position] = x[place] ?? 0;
      points[2 * position + 1] = y[place] ?? 0;
    });
    return points;
  };
  const series = (group: number, style: object) => {
    const chosen = places[group] ?? [];
    return {
      type: "scatter",
      dimensions: ["x", "y"],
      data: pointsOf(chosen),
      symbolSize: size,
      cursor: "pointer",
      large: group <= OFF && mapped.x.length > MANY && chosen.length > 0, // ECharts fails on none
      largeThreshold: 0,
      progressive: 0, // what is drawn piece by piece cannot be pointed at by the keyboard
      emphasis: { disabled: true },
      tooltip: {
        formatter: ({ dataIndex }: { dataIndex: number }, ticket: string, told: Told) =>
          tip(words(chosen[dataIndex] ?? -1, (read) => told(ticket, tip(read)))),
      },
      ...style,
    };
  };
  const ring = (colour: string, width: number, more: number) => ({
    symbolSize: size + more,
    itemStyle: { color: "transparent", borderColor: colour, borderWidth: width },
  });
  const shades = Array.from({ length: SHADES }, (_, shade) =>
    series(shade, { itemStyle: { color: shadeColour(theme, shade) } }),
  );
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
      seriesIndex: [], // what lies in the lasso is found in the arrays
      brushStyle: { color: theme.soft, borderColor: theme.accent, borderWidth: 1.5, opacity: 0.4 },
    },
    series: [
      ...shades,
      series(PLAIN, { itemStyle: { color: theme.point } }),
      series(OFF, { itemStyle: { color: theme.line } }),
      series(MEASURED, ring(theme.ink, 1.25, 2)),
      series(BENCH, ring(theme.warn, 2.5, 8)),
      series(BEST, {
        symbol: "path://M12 4l2.4 5 5.6.8-4 3.9.9 5.5L12 16.6l-4.9 2.6.9-5.5-4-3.9 5.6-.8z",
        symbolSize: size + 12,
        itemStyle: { color: theme.warn, borderColor: theme.surface, borderWidth: 1.5 },
      }),
    ],
  };
}
