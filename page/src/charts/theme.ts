// The colours and the type of the style sheet, for charts. ECharts draws with plain values, so they are read from the
// page; light-dark() is resolved only on a real property of a real element.

import { number } from "../core/format.ts";

export interface Theme {
  ink: string;
  quiet: string;
  line: string;
  strong: string;
  paper: string;
  surface: string;
  accent: string;
  soft: string;
  faint: string;
  point: string;
  warn: string;
  bad: string;
  ramp: [string, string, string];
  font: string;
  size: number;
}

export function themeOf(element: HTMLElement): Theme {
  const probe = document.createElement("span");
  element.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const theme: Theme = {
    ink: colour("--ink"),
    quiet: colour("--ink-3"),
    line: colour("--line"),
    strong: colour("--line-strong"),
    paper: colour("--paper"),
    surface: colour("--surface"),
    accent: colour("--accent"),
    soft: colour("--accent-soft"),
    faint: colour("--accent-faint"),
    point: colour("--point"),
    warn: colour("--warn"),
    bad: colour("--bad"),
    ramp: [colour("--ramp-low"), colour("--ramp-middle"), colour("--ramp-high")],
    font: getComputedStyle(element).fontFamily,
    size: "wall" in document.documentElement.dataset ? 15 : 12,
  };
  probe.remove();
  return theme;
}

// The colours of several lines, in order; css/charts.css has the same for their names in a table.
export const swatchColours = (theme: Theme): string[] => [theme.accent, theme.warn, theme.ink, theme.point, theme.bad];

interface AxisOptions {
  name?: string;
  type?: "value" | "category" | "log" | "time";
  data?: string[];
  scale?: boolean;
  whole?: boolean;
  min?: number | "dataMin";
  max?: number | "dataMax";
  split?: boolean;
  interval?: number;
  format?: (value: number) => string;
  gap?: number; // between the axis and its title
}

// A long name without its middle: two columns of one list often differ only at the end or after many same letters.
export const shortened = (name: string, most: number): string =>
  name.length > most ? `${name.slice(0, Math.ceil(most * 0.7) - 1)}…${name.slice(-Math.floor(most * 0.3))}` : name;

const MOST_OF_A_TITLE = 42; // letters, which fit a phone

// An axis with a title in words and quiet ticks.
export function axis(theme: Theme, vertical: boolean, options: AxisOptions): object {
  const {
    name,
    type = "value",
    data,
    scale = true,
    whole = false,
    split = vertical,
    format,
    min,
    max,
    interval,
    gap = vertical ? 14 : 30,
  } = options;
  return {
    type,
    data,
    scale,
    name: name && shortened(name, MOST_OF_A_TITLE),
    min,
    max,
    nameLocation: vertical ? "end" : "middle",
    nameGap: gap,
    nameTextStyle: { color: theme.quiet, fontSize: theme.size, align: vertical ? "left" : "center" },
    minInterval: whole ? 1 : undefined,
    splitNumber: 4,
    interval,
    axisLine: { show: !vertical, onZero: false, lineStyle: { color: theme.strong } },
    axisTick: { show: false },
    splitLine: { show: split, lineStyle: { color: theme.line } },
    axisLabel: {
      color: theme.quiet,
      fontSize: theme.size,
      hideOverlap: true,
      ...(type === "value" || type === "log" ? { formatter: format ?? ((value: number) => number(value, 5)) } : {}),
    },
  };
}

// What every chart has: type, a tooltip made of our own elements, no animation where motion is unwanted.
export function frame(theme: Theme) {
  return {
    animation: false,
    textStyle: { fontFamily: theme.font },
    grid: { left: 8, right: 20, top: 36, bottom: 42, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    tooltip: {
      confine: true,
      transitionDuration: 0,
      backgroundColor: theme.ink,
      borderWidth: 0,
      padding: [7, 11],
      textStyle: { color: theme.paper, fontSize: 13, fontFamily: theme.font },
      className: "tip",
    },
  };
}

// The lines of a tooltip as elements: no markup in strings, so that a key can be anything.
export function tip(lines: (string | null | undefined | false)[]): HTMLElement {
  const box = document.createElement("div");
  lines.filter(Boolean).forEach((line, position) => {
    const element = document.createElement(position ? "div" : "b");
    element.textContent = String(line);
    box.append(element);
  });
  return box;
}
