// A line of a few words' height: the shape, and where it is now.

import { s } from "../dom.js";
import { extent, linear } from "./scale.js";

const WIDTH = 200,
  HEIGHT = 44;

export function spark(values, { title, tone = "", step = false } = {}) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  if (known.length < 2)
    return s("svg.spark", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: nothing yet` });
  const x = linear([0, known.length - 1], [2, WIDTH - 6]);
  const [low, high] = extent(known);
  const y = linear(low === high ? [low - 1, high + 1] : [low, high], [HEIGHT - 5, 5]);
  const to = step ? (i, value) => `H${x(i)}V${y(value)}` : (i, value) => `L${x(i)},${y(value)}`;
  const path = known.map((value, i) => (i ? to(i, value) : `M${x(i)},${y(value)}`)).join("");
  return s(
    "svg.spark",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, preserveAspectRatio: "none" },
    s("path.line", { class: tone, d: path }),
  );
}
