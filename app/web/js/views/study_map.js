// A map of the candidates by two features, or by similarity in all of them, coloured by what the model expects.

import { get, study as path, query } from "../api.js";
import { cloud } from "../charts/cloud.js";
import { extent } from "../charts/scale.js";
import { delayed, fill, h } from "../dom.js";
import { cell, count, measured, number } from "../format.js";
import { empty, failed, loading } from "../parts.js";
import { principalComponents } from "../pca.js";
import { joined } from "./study_table.js";

const PAGE = 10_000,
  MOST = 50_000;
const COLOURS = { mean: "expected value", std: "uncertainty", ucb: "best plausible value" };

export function map(root, first) {
  let facts = first,
    all = [],
    components = null,
    left = false;
  const features = first.study.columns.filter((column) => column.role === "feature");
  const shown = { x: "", y: "", colour: "mean" };
  const picture = cloud({ title: "Map of the candidates", tip: words });
  const legend = h(".legend");

  async function load() {
    const found = [];
    const waiting = get(path(facts.name, "/suggestions"));
    for (let offset = 0; offset < MOST; offset = found.length) {
      const page = await get(path(facts.name, "/candidates") + query({ posterior: true, offset, limit: PAGE }));
      found.push(...joined(page));
      if (found.length >= page.total || !page.candidates.length) break;
    }
    const batch = new Set((await waiting).suggestions.map((suggestion) => suggestion.key));
    all = found.map((candidate) => ({ ...candidate, batch: batch.has(candidate.key) }));
    components = null;
    if (!left) draw();
  }

  function draw() {
    const axis = place();
    const colour = all.map(shade());
    const [low, high] = extent(colour);
    picture.update(
      all.map((candidate, i) => ({
        ...axis(candidate, i),
        candidate,
        batch: candidate.batch,
        off: !candidate.available,
        measured: (candidate.belief?.counts ?? candidate.belief?.count ?? 0) > 0,
        colour: colour[i] === null ? null : (colour[i] - low) / (high - low || 1),
      })),
    );
    fill(
      legend,
      h("span", COLOURS[shown.colour]),
      h("span.number", number(low, 3)),
      h("span.ramp"),
      h("span.number", number(high, 3)),
      h("span.mark.measured", "measured"),
      h("span.mark.batch", "in progress"),
      all.length < facts.summary.counts.candidates &&
        h("span", `the first ${count(all.length)} of ${count(facts.summary.counts.candidates)}`),
    );
  }

  function place() {
    if (shown.x && shown.y) {
      const [across, up] = [axisOf(shown.x), axisOf(shown.y)];
      return (candidate) => ({ x: across(candidate), y: up(candidate) });
    }
    components ??= principalComponents(
      all.map((candidate) => candidate.features),
      features,
    );
    return (_candidate, i) => ({ x: components[i][0], y: components[i][1] });
  }

  // Each text gets a lane, with a little scatter so that points do not hide one another.
  function axisOf(name) {
    const column = features.find((feature) => feature.name === name);
    if (column.kind === "number") return (candidate) => candidate.features[name];
    const lane = new Map((column.kind === "text" ? column.levels : [false, true]).map((level, i) => [level, i]));
    return (candidate) => (lane.get(candidate.features[name]) ?? 0) + ((candidate.number * 0.618) % 1) * 0.6;
  }

  function shade() {
    const side = facts.summary.direction === "minimize" ? "lower" : "upper";
    return ({ belief }) => (belief ? { mean: belief.mean, std: belief.std, ucb: belief[side] }[shown.colour] : null);
  }

  function words({ candidate: { key, belief, features: settings } }) {
    return [
      h("b.key", key),
      belief && [h("br"), measured(belief.mean, belief.std, facts.summary.unit)],
      Object.entries(settings)
        .slice(0, 6)
        .map(([name, value]) => [h("br"), `${name} ${cell(value)}`]),
    ];
  }

  const pick = (label, name, options) =>
    h(
      "label.inline",
      label,
      h(
        "select",
        {
          onchange: (event) => {
            shown[name] = event.target.value;
            if (name === "x" && shown.x && !shown.y) {
              shown.y = (features.find((feature) => feature.name !== shown.x) ?? features[0]).name;
            }
            controls();
            draw();
          },
        },
        options.map(([key, text]) => h("option", { value: key, selected: shown[name] === key }, text)),
      ),
    );
  const names = features.map(({ name }) => [name, name]);
  const tools = h(".row.tools");
  const controls = () =>
    fill(
      tools,
      pick("Horizontal", "x", [["", "by similarity"], ...names]),
      shown.x ? pick("Vertical", "y", names) : null,
      pick("Colour", "colour", Object.entries(COLOURS)),
      !shown.x && h("span.quiet.small", "Candidates with similar features are close together."),
    );

  if (!first.summary.counts.candidates) {
    fill(root, empty("file", "No candidates yet", "Upload candidates to see them on a map."));
    return {};
  }
  fill(root, loading(420));
  const begin = () =>
    load().then(
      () => {
        controls();
        fill(root, h("section.card", tools, picture.element, legend));
      },
      (error) => fill(root, failed(error, begin)),
    );
  begin();
  const later = delayed(() => load().catch(() => {}), first.summary.counts.candidates > 5_000 ? 5_000 : 400);
  return {
    update: (now) => {
      facts = now;
      later();
    },
    leave: () => {
      left = true;
      picture.leave();
    },
  };
}
