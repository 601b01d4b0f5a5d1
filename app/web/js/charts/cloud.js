// A cloud of points on a canvas: 10⁵ of them stay smooth. Hover finds the nearest by a grid.

import { fill, framed, h } from "../dom.js";
import { extent, linear } from "./scale.js";

const PAD = 14,
  CELL = 24,
  RAMP = 24;
const NEIGHBOURS = [-1, 0, 1].flatMap((i) => [-1, 0, 1].map((j) => [i, j]));

// points: [{ x, y, colour (0…1 or null), batch, measured, best, off }]; tip(point) → children
export function cloud({ title, tip }) {
  const canvas = h("canvas", { role: "img", "aria-label": title });
  const box = h("div.tip", { hidden: true });
  const holder = h(".cloud", canvas, box);
  let points = [],
    cells = new Map(),
    near = null;

  const draw = framed(() => {
    const { clientWidth: width, clientHeight: height } = holder;
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    place(width, height);
    paint(pen, points, colours(holder));
    if (near) ring(pen, near, 8, colour(holder, "--ink"), 2);
  });

  function place(width, height) {
    const x = linear(extent(points.map((point) => point.x)), [PAD, width - PAD]);
    const y = linear(extent(points.map((point) => point.y)), [height - PAD, PAD]);
    cells = new Map();
    for (const point of points) {
      [point.px, point.py] = [x(point.x), y(point.y)];
      const cell = `${Math.floor(point.px / CELL)},${Math.floor(point.py / CELL)}`;
      if (cells.has(cell)) cells.get(cell).push(point);
      else cells.set(cell, [point]);
    }
  }

  function find(px, py) {
    let best = null,
      closest = CELL ** 2;
    const [column, row] = [Math.floor(px / CELL), Math.floor(py / CELL)];
    for (const [i, j] of NEIGHBOURS) {
      for (const point of cells.get(`${column + i},${row + j}`) ?? []) {
        const distance = (point.px - px) ** 2 + (point.py - py) ** 2;
        if (distance < closest) [best, closest] = [point, distance];
      }
    }
    return best;
  }

  canvas.addEventListener("pointermove", (event) => {
    const point = find(event.offsetX, event.offsetY);
    if (point === near) return;
    near = point;
    box.hidden = !point;
    draw();
    if (!point) return;
    fill(box, tip(point));
    const left = point.px + 14 + box.offsetWidth > holder.clientWidth ? point.px - box.offsetWidth - 14 : point.px + 14;
    box.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, point.py - box.offsetHeight - 6)}px)`;
  });
  canvas.addEventListener("pointerleave", () => {
    near = null;
    box.hidden = true;
    draw();
  });
  const watch = new ResizeObserver(draw);
  watch.observe(holder);
  addEventListener("themechange", draw);
  return {
    element: holder,
    update(now) {
      points = now;
      near = null;
      box.hidden = true;
      draw();
    },
    leave() {
      watch.disconnect();
      removeEventListener("themechange", draw);
    },
  };
}

function paint(pen, points, { ramp, ink, warn, off }) {
  const radius = radiusFor(points.length);
  const order = [...points].sort((a, b) => (a.colour ?? -1) - (b.colour ?? -1)); // the bright ones on top
  for (const point of order) {
    pen.fillStyle = point.off ? off : ramp[Math.round((point.colour ?? 0) * (RAMP - 1))];
    pen.beginPath();
    pen.arc(point.px, point.py, radius, 0, 2 * Math.PI);
    pen.fill();
  }
  for (const point of points) if (point.measured) ring(pen, point, radius + 1, ink, 1.25);
  for (const point of points) if (point.batch) ring(pen, point, radius + 4, warn, 2.5);
}

function radiusFor(count) {
  if (count > 20_000) return 1.6;
  if (count > 4_000) return 2.3;
  return count > 800 ? 3.4 : 5;
}

function ring(pen, point, radius, stroke, width) {
  pen.strokeStyle = stroke;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(point.px, point.py, radius, 0, 2 * Math.PI);
  pen.stroke();
}

function colours(holder) {
  const stops = ["--ramp-low", "--ramp-middle", "--ramp-high"].map((name) => channels(colour(holder, name)));
  const ramp = Array.from({ length: RAMP }, (_, i) => {
    const at = (i / (RAMP - 1)) * 2,
      [from, to] = at < 1 ? stops : stops.slice(1);
    return `rgb(${from.map((start, k) => Math.round(start + (to[k] - start) * (at < 1 ? at : at - 1))).join(" ")})`;
  });
  return { ramp, ink: colour(holder, "--ink"), warn: colour(holder, "--warn"), off: colour(holder, "--line") };
}

// light-dark() is resolved only on a real property of a real element.
function colour(holder, name) {
  const probe = h("i");
  probe.style.color = `var(${name})`;
  holder.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

const channels = (text) =>
  text
    .match(/[\d.]+/g)
    .slice(0, 3)
    .map(Number);
