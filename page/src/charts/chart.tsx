// A chart with a name, a keyboard and a picture to take along. ECharts is read when the first one is shown.

import type { EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { useTheme } from "../core/hooks.ts";
import { Icon } from "../parts/icon.tsx";
import { type Theme, themeOf } from "./theme.ts";

export interface Stop {
  series: number;
  index: number;
  words: string;
  pick?: () => void;
}

interface ChartProps {
  title: string;
  option: (theme: Theme) => object;
  facts: unknown[]; // what the option depends on
  stops?: Stop[]; // the points that the arrow keys walk through
  empty?: string; // shown instead while there is nothing to draw
  height?: "low" | "middle" | "tall" | "map";
  canvas?: boolean;
  rich?: boolean; // needs the less common kinds of charts
  zoom?: boolean; // its option has axes that can be zoomed
  picture?: string; // the name of the file that the picture is saved under
  onPick?: (params: { seriesIndex: number; dataIndex: number; data: unknown }) => void;
  onReady?: (chart: EChartsType) => void;
}

export function Chart(props: ChartProps) {
  const { title, empty, height = "middle", zoom, picture, canvas } = props;
  const holder = useRef<HTMLDivElement>(null);
  const { chart, drawn } = useChart(holder, props);
  const { spoken, onKeyDown, leave } = useWalk(chart, drawn, props.stops ?? []);
  return (
    <figure class={`chart ${height}`} aria-label={title}>
      <div
        class="catch"
        ref={holder}
        hidden={Boolean(empty)}
        tabIndex={0}
        role="application"
        aria-label={`${title}. Arrow keys walk through the points.`}
        onKeyDown={onKeyDown}
        onBlur={leave}
      />
      {empty && <p class="quiet small nothing">{empty}</p>}
      <div role="status" class="visually-hidden">
        {spoken}
      </div>
      {!empty && chart.current && (
        <div class="chart-tools">
          {zoom && <Tool words="Zoom in" title={title} icon="plus" act={() => zoomTo(chart.current, 0.5)} />}
          {zoom && <Tool words="Zoom out" title={title} icon="minus" act={() => zoomTo(chart.current, 2)} />}
          {picture && (
            <Tool
              words="Save the picture"
              title={title}
              icon="down"
              act={() => savePicture(chart.current, picture, canvas)}
            />
          )}
        </div>
      )}
    </figure>
  );
}

interface ToolProps {
  words: string;
  title: string;
  icon: "plus" | "minus" | "down";
  act: () => void;
}

const Tool = ({ words, title, icon, act }: ToolProps) => (
  <button type="button" class="plain icon small" aria-label={`${words}: ${title}`} title={words} onClick={act}>
    <Icon name={icon} size={16} />
  </button>
);

// Show a part of what is shown now, around its middle, or more than that; the wheel with Ctrl and two fingers do the same.
function zoomTo(chart: EChartsType | null, share: number): void {
  const axes = (chart?.getOption().dataZoom ?? []) as { start?: number; end?: number }[];
  for (const [dataZoomIndex, { start = 0, end = 100 }] of axes.entries()) {
    const width = Math.min(100, (end - start) * share);
    const from = Math.min(100 - width, Math.max(0, (start + end - width) / 2));
    chart?.dispatchAction({ type: "dataZoom", dataZoomIndex, start: from, end: from + width });
  }
}

// The files of ECharts at once instead of one after the other; static/early.js knows their names.
function preloadCharts(): void {
  const known = globalThis as { nextbatchPreload?: (part: string) => void; nextbatchCharts?: boolean };
  if (!known.nextbatchCharts) known.nextbatchPreload?.("charts");
  known.nextbatchCharts = true;
}

function useChart(holder: { current: HTMLDivElement | null }, props: ChartProps) {
  const chart = useRef<EChartsType | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useTheme();
  const [ready, setReady] = useState(false);
  const [drawn, setDrawn] = useState(0);
  const blank = Boolean(props.empty);

  useEffect(() => {
    let left = false;
    let stop = () => {};
    if (blank) return;
    const { canvas, rich } = latest.current;
    preloadCharts();
    Promise.all([import("./echarts.ts"), (canvas || rich) && import("./rich.ts")]).then(([{ init }]) => {
      if (left || !holder.current) return;
      const made = init(holder.current, null, { renderer: canvas ? "canvas" : "svg" });
      chart.current = made;
      made.on("click", (params) => latest.current.onPick?.(params as never));
      const watch = new ResizeObserver(() => made.resize());
      watch.observe(holder.current);
      stop = () => {
        watch.disconnect();
        made.dispose();
        chart.current = null;
      };
      latest.current.onReady?.(made);
      setReady(true);
    });
    return () => {
      left = true;
      stop();
      setReady(false);
    };
  }, [blank, holder]);

  useEffect(() => {
    if (!ready || !chart.current || !holder.current) return;
    chart.current.setOption(latest.current.option(themeOf(holder.current)) as Record<string, unknown>, {
      notMerge: false,
      replaceMerge: ["series"],
    });
    setDrawn((times) => times + 1);
    // The caller names what the option depends on.
  }, [ready, theme, holder, ...props.facts]);

  return { chart, drawn };
}

// The arrow keys show one point after the other; what is shown stays when the chart is drawn anew.
function useWalk(chart: { current: EChartsType | null }, drawn: number, stops: Stop[]) {
  const [spoken, setSpoken] = useState("");
  const position = useRef(-1);
  const show = () => {
    const stop = stops[position.current];
    if (!stop) return;
    chart.current?.dispatchAction({ type: "showTip", seriesIndex: stop.series, dataIndex: stop.index });
    setSpoken(stop.words);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter") stops[position.current]?.pick?.();
    if (event.key === "Escape") leave();
    if (!step || !stops.length) return;
    event.preventDefault();
    const next = position.current < 0 ? stops.length - 1 : position.current + step;
    position.current = Math.min(stops.length - 1, Math.max(0, next));
    show();
  };
  const leave = () => {
    position.current = -1;
    chart.current?.dispatchAction({ type: "hideTip" });
  };
  // Whenever the chart is drawn.
  useEffect(show, [drawn]);
  return { spoken, onKeyDown, leave };
}

function savePicture(chart: EChartsType | null, name: string, canvas = false): void {
  if (!chart) return;
  const link = document.createElement("a");
  link.download = `${name}.${canvas ? "png" : "svg"}`;
  link.href = chart.getDataURL({
    type: canvas ? "png" : "svg",
    pixelRatio: 2,
    backgroundColor: themeOf(chart.getDom()).surface,
  });
  link.click();
}
