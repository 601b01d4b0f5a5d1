// Settings: what the owner decided, and for those who may: change it, pause, resume, archive.

import { change, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { count, fullTime, number, withUnit } from "../format.js";
import { ask, toast } from "../parts.js";
import { may } from "../session.js";

const GOALS = { best: "find the best one", production: "gain while measuring", explore: "learn widely" };

export function settings(root, first, look) {
  let facts = first;

  const patch = async (body) => {
    await change("PATCH", path(facts.name), body, { "If-Match": `"${facts.study.version}"` });
    await look();
    toast("Saved.");
  };

  const move = (state, title, text, danger = false) => () => ask({
    title, text, confirm: title, danger,
    fields: [{ name: "reason", label: "Why", maxlength: 200, hint: "Kept in the ledger; may be empty." }],
    act: ({ reason }) => patch({ state, ...(reason ? { reason } : {}) }),
  });

  const edit = () => {
    const now = facts.study.configuration;
    ask({
      title: "Change settings", confirm: "Save",
      fields: [
        { name: "description", label: "Description", kind: "area", value: now.description },
        { name: "objective", label: "What is measured", value: now.objective },
        { name: "unit", label: "Unit", value: now.unit },
        { name: "min_batch", label: "Fewest in a batch", kind: "number", min: 1, value: now.min_batch },
        { name: "max_batch", label: "Most in a batch", kind: "number", min: 1, value: now.max_batch },
        { name: "regret", label: "Stop when nothing can be better by more than", kind: "number", step: "any", min: 0, value: now.stop.regret_bound ?? "" },
        { name: "observations", label: "Stop after so many results", kind: "number", min: 1, value: now.stop.observations ?? "" },
      ],
      act: (said) => patch({
        description: said.description, objective: said.objective, unit: said.unit,
        min_batch: Number(said.min_batch), max_batch: Number(said.max_batch),
        stop: { regret_bound: said.regret ? Number(said.regret) : null, observations: said.observations ? Number(said.observations) : null, date: now.stop.date },
      }),
    });
  };

  function update(now) {
    facts = now;
    const { state, configuration: c, version, created_at: created, columns } = facts.study;
    const fact = (name, value) => [h("dt", name), h("dd", value)];
    fill(root, h(".charts",
      h("section.card", h("header", h("h2", "Settings"), h("span.push"), may("manage") && state !== "archived" && h("button.small", { onclick: edit }, "Change")),
        h("dl.facts", fact("Objective", withUnit(c.objective, c.unit && `in ${c.unit}`)), fact("Wanted", c.direction === "minimize" ? "small values" : "large values"), fact("Goal", GOALS[c.goal] ?? c.goal),
          fact("Algorithm", c.algorithm), fact("Model", c.theory ? theoryWords(c.theory, c.unit) : "fitted to the results (auto)"), fact("Batch size", `${count(c.min_batch)} to ${count(c.max_batch)}${c.first_batch ? `, the first ${c.first_batch}` : ""}`),
          fact("Repeats", String(c.repeats)), fact("Noise", c.noise), fact("Stop", stopWords(c)), fact("Overdue", c.overdue_hours ? `after ${number(c.overdue_hours)} hours` : "never"), fact("Seed", h("span.mono", String(c.seed))))),
      h("section.card", h("header", h("h2", "Columns")),
        columns.length ? h(".scroll", { tabindex: "0", role: "region", "aria-label": "Columns" }, h("table.plain", h("thead", h("tr", ["Column", "Role", "Kind", "Levels"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", columns.map((one) => h("tr", h("td", h("b", one.name)), h("td", one.role), h("td", one.kind), h("td.quiet.small", one.levels.length > 6 ? `${one.levels.length} levels` : one.levels.join(", "))))))) : h("p.quiet", "None yet.")),
      h("section.card.wide", h("header", h("h2", "Life"), h("span.quiet.small", `created ${fullTime(created)} · version ${version}`)),
        h("p.quiet", { active: "Batches can be asked for and results reported.", paused: "No new batches; results are still welcome.", archived: "Kept for reading. An archived study does not come back." }[state]),
        may("manage") && h(".row.top",
          state === "active" && h("button", { onclick: move("paused", "Pause", "No new batches are given out until it is resumed. Results are still taken.") }, "Pause"),
          state === "paused" && h("button.primary", { onclick: move("active", "Resume", "Batches can be asked for again.") }, "Resume"),
          state !== "archived" && h("button.danger", { onclick: move("archived", "Archive", "This cannot be undone: an archived study stays archived.", true) }, "Archive")))));
  }

  update(first);
  return { update };
}

const theoryWords = (t, unit) => `${t.kernel.kind} kernel, noise ${withUnit(number(t.noise), unit)}, norm ${number(t.norm)}`;

function stopWords({ stop, unit }) {
  const said = [
    stop.regret_bound && `nothing better by more than ${withUnit(number(stop.regret_bound), unit)}`,
    stop.observations && `${count(stop.observations)} results`,
    stop.date && `after ${fullTime(stop.date)}`,
  ].filter(Boolean);
  return said.length ? said.join(", or ") : "only by hand";
}
