// A chart: marks over two axes, hover and keyboard, direct labels. Redrawn when its width changes.
//
// chart({ title, marks: [{ kind: "line" | "step" | "dots" | "band" | "bars", points, tone, label }], tip, … })

import { fill, framed, h, s } from "../dom.js";
import { number } from "../format.js";
import { labelled, marked } from "./marks.js";
import { extent, linear, nice, ticks } from "./scale.js";

const MARGIN = { top: 18, right: 16, bottom: 44, left: 48 };

export function chart(options) {
  const holder = h("figure.chart", { "aria-label": options.title });
  let spec = options,
    width = 0;
  const draw = framed(() => width && render(holder, spec, width));
  const watch = new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now !== width) {
      width = now;
      draw();
    }
  });
  watch.observe(holder);
  return {
    element: holder,
    update(changes) {
      spec = { ...spec, ...changes };
      draw();
    },
  };
}

function render(holder, spec, width) {
  const wall = "wall" in document.documentElement.dataset;
  const height = (wall && spec.wallHeight) || (spec.height ?? 230);
  const labels = spec.marks.some((mark) => mark.label);
  const right = labels ? Math.min(110, width * 0.2) : MARGIN.right;
  const all = spec.marks.flatMap((mark) => mark.points);
  if (!all.length) return void fill(holder, h("p.quiet.small", spec.empty ?? "Nothing to show yet."));
  const bars = spec.marks.some((mark) => mark.kind === "bars");
  const [first, last] = extent(all.map((point) => point.x));
  const rise = extent(all.flatMap((point) => [point.y, point.low ?? point.y]));
  const yDomain = nice(bars || spec.fromZero ? [Math.min(0, rise[0]), rise[1]] : rise);
  const half = bars ? 0.5 : 0;
  const x = linear([first - half, last + half], [MARGIN.left, width - right]);
  const y = linear(yDomain, [height - MARGIN.bottom, MARGIN.top]);
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" },
    grid(x, y, spec, [first, last], width - right),
    spec.marks.map((mark) => marked(mark, x, y)),
    labelled(spec.marks, x, y),
  );
  fill(holder, svg);
  if (spec.tip) hover(holder, svg, spec, x, y, height);
}

function grid(x, y, spec, [first, last], end) {
  const whole = spec.whole ?? true;
  const columns = ticks([first, last], Math.max(2, Math.min(8, (end - MARGIN.left) / 80)), whole);
  const rows = ticks(y.domain, 4);
  const bottom = y(y.domain[0]);
  const format = spec.format ?? ((value) => number(value, 4));
  return s(
    "g",
    {},
    rows.map((value) => s("line.grid", { x1: MARGIN.left, x2: end, y1: y(value), y2: y(value) })),
    s("line.base", { x1: MARGIN.left, x2: end, y1: bottom, y2: bottom }),
    rows.map((value) => s("text", { x: MARGIN.left - 9, y: y(value) + 4, "text-anchor": "end" }, format(value))),
    columns.map((value) => s("text", { x: x(value), y: bottom + 18, "text-anchor": "middle" }, number(value, 6))),
    spec.across && s("text", { x: end, y: bottom + 37, "text-anchor": "end" }, spec.across),
  );
}

// The point nearest to the pointer, or the one the arrow keys walk to, with its story in words.
function hover(holder, svg, spec, x, y, height) {
  const points = spec.marks.flatMap((mark) =>
    mark.hover === false ? [] : mark.points.map((point) => ({ ...point, mark })),
  );
  points.sort((a, b) => a.x - b.x);
  const cursor = s("line.cursor", { y1: MARGIN.top, y2: height - MARGIN.bottom, visibility: "hidden" });
  const spot = s("circle.spot", { r: 4.5, visibility: "hidden" });
  const box = h("div.tip", { hidden: true });
  const catcher = s("rect.catch", {
    x: MARGIN.left,
    y: 0,
    width: Math.max(0, x(x.domain[1]) - MARGIN.left),
    height,
    tabindex: "0",
    role: "application",
    "aria-label": `${spec.title}. Arrow keys walk through the points.`,
  });
  svg.removeAttribute("aria-hidden");
  svg.append(cursor, spot, catcher);
  const voice = h("div", { role: "status", class: "visually-hidden" });
  holder.append(box, voice);
  let at = -1;
  const show = (i, aloud) => {
    at = i;
    const point = points[i];
    const [px, py] = [x(point.x), y(point.y)];
    for (const [name, value] of [
      ["x1", px],
      ["x2", px],
      ["visibility", "visible"],
    ])
      cursor.setAttribute(name, value);
    for (const [name, value] of [
      ["cx", px],
      ["cy", py],
      ["visibility", "visible"],
    ])
      spot.setAttribute(name, value);
    fill(box, spec.tip(point));
    box.hidden = false;
    const room = holder.clientWidth;
    const left = px + 14 + box.offsetWidth > room ? px - box.offsetWidth - 14 : px + 14;
    box.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, py - box.offsetHeight - 8)}px)`;
    if (aloud) voice.textContent = box.textContent;
  };
  const hide = () => {
    box.hidden = true;
    cursor.setAttribute("visibility", "hidden");
    spot.setAttribute("visibility", "hidden");
  };
  catcher.addEventListener("pointermove", (event) => {
    const place = svg.getBoundingClientRect();
    show(nearest(points, event.clientX - place.left, event.clientY - place.top, x, y), false);
  });
  catcher.addEventListener("pointerleave", hide);
  catcher.addEventListener("blur", hide);
  catcher.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(points.length - 1, Math.max(0, at < 0 ? points.length - 1 : at + step)), true);
  });
}

function nearest(points, px, py, x, y) {
  let best = 0,
    closest = Number.POSITIVE_INFINITY;
  points.forEach((point, i) => {
    const distance = Math.abs(x(point.x) - px) * 3 + Math.abs(y(point.y) - py);
    if (distance < closest) [best, closest] = [i, distance];
  });
  return best;
}
