// What is drawn on a chart's two axes. Thousands of dots are one path, so that they stay smooth.

import { s } from "../dom.js";

const KINDS = { line: lines, step: steps, dots, band, bars };

export const marked = (mark, x, y) => KINDS[mark.kind](mark, x, y);

function lines({ points, tone = "" }, x, y) {
  const path = points
    .filter((point) => point.y !== null)
    .map((point, i) => `${i ? "L" : "M"}${at(point, x, y)}`)
    .join("");
  return s("path.line", { class: tone, d: path });
}

function steps({ points, tone = "" }, x, y) {
  const path = points
    .map((point, i) => (i ? `H${round(x(point.x))}V${round(y(point.y))}` : `M${at(point, x, y)}`))
    .join("");
  return s("path.line", { class: tone, d: path });
}

function dots({ points, tone = "", radius }, x, y) {
  const r = radius ?? radiusFor(points.length);
  const path = points
    .map(
      (point) =>
        `M${round(x(point.x) - r)},${round(y(point.y))}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    )
    .join("");
  return s("path.dots", { class: tone, d: path });
}

function radiusFor(count) {
  if (count > 800) return 1.6;
  return count > 200 ? 2.2 : 3.5;
}

function band({ points }, x, y) {
  const over = points.map((point, i) => `${i ? "L" : "M"}${at(point, x, y)}`).join("");
  const back = [...points]
    .reverse()
    .map((point) => `L${round(x(point.x))},${round(y(point.low))}`)
    .join("");
  return s("path.band", { d: `${over}${back}Z` });
}

function bars({ points }, x, y) {
  const step = Math.abs(x(1) - x(0));
  const width = Math.max(1, Math.min(step * 0.72, 36));
  const zero = y(0);
  return s(
    "g",
    {},
    points.map((point) =>
      s("rect.bar-mark", {
        class: point.tone ?? "",
        x: round(x(point.x) - width / 2),
        width: round(width),
        y: round(Math.min(y(point.y), zero)),
        height: round(Math.abs(zero - y(point.y))),
        rx: Math.min(3, width / 3),
      }),
    ),
  );
}

// Names at the ends of the lines, moved apart where they would overlap.
export function labelled(marks, x, y) {
  const ends = marks
    .filter((mark) => mark.label && mark.points.length)
    .map((mark) => {
      const last = mark.points.findLast((point) => point.y !== null) ?? mark.points.at(-1);
      return { mark, x: x(last.x) + 8, y: y(last.y) + 4 };
    });
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    if (i && end.y - ends[i - 1].y < 15) end.y = ends[i - 1].y + 15;
  });
  return ends.map((end) => s("text.label", { class: end.mark.tone ?? "", x: end.x, y: end.y }, end.mark.label));
}

const at = (point, x, y) => `${round(x(point.x))},${round(y(point.y))}`;
const round = (value) => Math.round(value * 10) / 10;
