// A map of the candidates: two features, or the two main directions of all, coloured by what is believed.

import { get, query, study as path } from "../api.js";
import { cloud } from "../charts/cloud.js";
import { extent } from "../charts/scale.js";
import { delayed, fill, h } from "../dom.js";
import { cell, count, measured, number } from "../format.js";
import { empty, failed, loading } from "../parts.js";
import { mainDirections } from "../pca.js";
import { joined } from "./study_table.js";

const PAGE = 10_000, MOST = 50_000;
const COLOURS = { mean: "expected", std: "uncertainty", ucb: "optimistic bound" };

export function map(root, first) {
  let facts = first, all = [], directions = null, left = false;
  const features = first.study.columns.filter((column) => column.role === "feature");
  const shown = { x: "", y: "", colour: "mean" };
  const picture = cloud({ title: "Map of the candidates", tip: words });
  const legend = h(".legend");

  async function load() {
    const found = [];
    const waiting = get(path(facts.name, "/suggestions"));
    for (let offset = 0; offset < MOST; offset += PAGE) {
      const page = await get(path(facts.name, "/candidates") + query({ posterior: true, offset, limit: PAGE }));
      found.push(...joined(page));
      if (found.length >= page.total) break;
    }
    const batch = new Set((await waiting).suggestions.map((one) => one.key));
    all = found.map((one) => ({ ...one, batch: batch.has(one.key) }));
    directions = null;
    if (!left) draw();
  }

  function draw() {
    const axis = place();
    const colour = all.map(shade());
    const [low, high] = extent(colour);
    picture.update(all.map((one, i) => ({
      ...axis(one, i), candidate: one, batch: one.batch, off: !one.available, measured: (one.belief?.counts ?? one.belief?.count ?? 0) > 0,
      colour: colour[i] === null ? null : (colour[i] - low) / (high - low || 1),
    })));
    fill(legend,
      h("span", COLOURS[shown.colour]), h("span.number", number(low, 3)), h("span.ramp"), h("span.number", number(high, 3)),
      h("span.mark.measured", "measured"), h("span.mark.batch", "on a bench now"),
      all.length < facts.summary.counts.candidates && h("span", `the first ${count(all.length)} of ${count(facts.summary.counts.candidates)}`));
  }

  function place() {
    if (shown.x && shown.y) {
      const [across, up] = [axisOf(shown.x), axisOf(shown.y)];
      return (one) => ({ x: across(one), y: up(one) });
    }
    directions ??= mainDirections(all.map((one) => one.features), features);
    return (_one, i) => ({ x: directions[i][0], y: directions[i][1] });
  }

  // Texts get a lane each, with a little scatter so that points do not hide one another.
  function axisOf(name) {
    const column = features.find((one) => one.name === name);
    if (column.kind === "number") return (one) => one.features[name];
    const lane = new Map((column.kind === "text" ? column.levels : [false, true]).map((level, i) => [level, i]));
    return (one) => (lane.get(one.features[name]) ?? 0) + ((one.number * 0.618) % 1) * 0.6;
  }

  function shade() {
    const side = facts.summary.direction === "minimize" ? "lower" : "upper";
    return ({ belief }) => (belief ? { mean: belief.mean, std: belief.std, ucb: belief[side] }[shown.colour] : null);
  }

  function words({ candidate: one }) {
    const belief = one.belief;
    return [h("b.key", one.key), belief && [h("br"), measured(belief.mean, belief.std, facts.summary.unit)],
      Object.entries(one.features).slice(0, 6).map(([name, value]) => [h("br"), `${name} ${cell(value)}`])];
  }

  const pick = (label, name, options) => h("label.inline", label, h("select", { onchange: (event) => {
    shown[name] = event.target.value;
    if (name === "x" && shown.x && !shown.y) { shown.y = (features.find((one) => one.name !== shown.x) ?? features[0]).name; }
    controls();
    draw();
  } }, options.map(([key, text]) => h("option", { value: key, selected: shown[name] === key }, text))));
  const tools = h(".row.tools");
  const controls = () => fill(tools,
    pick("Across", "x", [["", "the two main directions"], ...features.map((one) => [one.name, one.name])]),
    shown.x ? pick("Up", "y", features.map((one) => [one.name, one.name])) : null,
    pick("Colour", "colour", Object.entries(COLOURS)));

  if (!first.summary.counts.candidates) {
    fill(root, empty("file", "No candidates yet", "A map needs something to show."));
    return {};
  }
  fill(root, loading(420));
  const begin = () => load().then(() => { controls(); fill(root, h("section.card", tools, picture.element, legend)); }, (error) => fill(root, failed(error, begin)));
  begin();
  const later = delayed(() => load().catch(() => {}), first.summary.counts.candidates > 5_000 ? 5_000 : 400);
  return { update: (now) => { facts = now; later(); }, leave: () => { left = true; picture.leave(); } };
}
