// Settings: what the owner decided. Those with the right to can change it, pause, resume and archive.

import { change, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { count, fullTime, number, withUnit } from "../format.js";
import { ask, toast } from "../parts.js";
import { may } from "../session.js";

const GOALS = {
  best: "find the best candidate",
  production: "get good results while measuring",
  explore: "learn about all candidates",
};
const REPEATS = { auto: "when worthwhile", allowed: "always allowed", never: "never" };
const NOISE = { auto: "estimated from the results", none: "none: repeats give the same value" };

const STATES = {
  active: "You can ask for batches and report results.",
  paused: "No new batches until the study is resumed. You can still report results.",
  archived: "Read-only. An archived study cannot be resumed.",
};
const PAUSE = {
  to: "paused",
  title: "Pause",
  text: "No new batches are issued until the study is resumed. You can still report results.",
  style: "",
};
const RESUME = { to: "active", title: "Resume", text: "You can ask for batches again.", style: "primary" };
const ARCHIVE = {
  to: "archived",
  title: "Archive",
  text: "This cannot be undone: an archived study cannot be resumed.",
  style: "danger",
};
const MOVES = { active: [PAUSE, ARCHIVE], paused: [RESUME, ARCHIVE] };

export function settings(root, first, look) {
  let facts = first;

  const patch = async (body) => {
    await change("PATCH", path(facts.name), body, { "If-Match": `"${facts.study.version}"` });
    await look();
    toast("Saved.");
  };

  const edit = () => {
    const now = facts.study.configuration;
    ask({
      title: "Change settings",
      confirm: "Save",
      fields: [
        { name: "description", label: "Description", kind: "area", value: now.description },
        { name: "objective", label: "Measured quantity", value: now.objective },
        { name: "unit", label: "Unit", value: now.unit },
        { name: "min_batch", label: "Smallest batch", kind: "number", min: 1, value: now.min_batch },
        { name: "max_batch", label: "Largest batch", kind: "number", min: 1, value: now.max_batch },
        {
          name: "regret",
          label: "Stop when no candidate can be better by more than",
          kind: "number",
          step: "any",
          min: 0,
          value: now.stop.regret_bound ?? "",
        },
        {
          name: "observations",
          label: "Stop after this many results",
          kind: "number",
          min: 1,
          value: now.stop.observations ?? "",
        },
      ],
      act: (values) =>
        patch({
          description: values.description,
          objective: values.objective,
          unit: values.unit,
          min_batch: Number(values.min_batch),
          max_batch: Number(values.max_batch),
          stop: {
            regret_bound: values.regret ? Number(values.regret) : null,
            observations: values.observations ? Number(values.observations) : null,
            date: now.stop.date,
          },
        }),
    });
  };

  function update(now) {
    facts = now;
    const { configuration, columns } = facts.study;
    fill(root, h(".charts", settingsCard(configuration), columnsCard(columns), statusCard(facts.study)));
  }

  const mayEdit = () => may("manage") && facts.study.state !== "archived";

  function settingsCard(c) {
    const batchSize = `${count(c.min_batch)} to ${count(c.max_batch)}`;
    return h(
      "section.card",
      h("header", h("h2", "Settings"), h("span.push"), mayEdit() && h("button.small", { onclick: edit }, "Change")),
      h(
        "dl.facts",
        fact("Measured quantity", withUnit(c.objective, c.unit && `in ${c.unit}`)),
        fact("Better", c.direction === "minimize" ? "smaller values" : "larger values"),
        fact("Goal", GOALS[c.goal] ?? c.goal),
        fact("Model", c.theory ? theoryWords(c.theory, c.unit) : "fitted to the results"),
        fact("Batch size", c.first_batch ? `${batchSize}, the first batch ${c.first_batch}` : batchSize),
        fact("Repeat measurements", REPEATS[c.repeats] ?? `at most ${c.repeats} per candidate`),
        fact("Measurement noise", NOISE[c.noise] ?? c.noise),
        fact("Stop", stopWords(c)),
        fact("Overdue", c.overdue_hours ? `after ${number(c.overdue_hours)} hours` : "never"),
      ),
      h(
        "details.reproduce",
        h("summary.small", "To reproduce the batches"),
        h(
          "dl.facts",
          fact("Algorithm", h("span.mono", c.algorithm)),
          fact("Random seed", h("span.mono", String(c.seed))),
        ),
      ),
    );
  }

  function statusCard({ state, created_at: created, version }) {
    return h(
      "section.card.wide",
      h("header", h("h2", "Status"), h("span.quiet.small", `created ${fullTime(created)} · version ${version}`)),
      h("p.quiet", STATES[state]),
      mayEdit() && h(".row.top", MOVES[state].map(moveButton)),
    );
  }

  function moveButton({ to, title, text, style }) {
    const onclick = () =>
      ask({
        title,
        text,
        confirm: title,
        danger: style === "danger",
        fields: [
          {
            name: "reason",
            label: "Reason",
            maxlength: 200,
            hint: "Optional. It is recorded in the history of the study.",
          },
        ],
        act: ({ reason }) => patch({ state: to, ...(reason ? { reason } : {}) }),
      });
    return h("button", { onclick, class: style }, title);
  }

  update(first);
  return { update };
}

const fact = (name, value) => [h("dt", name), h("dd", value)];

function columnsCard(columns) {
  const head = h("header", h("h2", "Columns"));
  if (!columns.length) return h("section.card", head, h("p.quiet", "None yet."));
  const titles = ["Column", "Role", "Type", "Values"].map((title) => h("th", { scope: "col" }, title));
  const levels = ({ levels: names }) => (names.length > 6 ? `${names.length} different` : names.join(", "));
  const rows = columns.map((column) =>
    h(
      "tr",
      h("td", h("b", column.name)),
      h("td", column.role),
      h("td", column.kind),
      h("td.quiet.small", levels(column)),
    ),
  );
  const table = h("table.plain", h("thead", h("tr", titles)), h("tbody", rows));
  return h("section.card", head, h(".scroll", { tabindex: "0", role: "region", "aria-label": "Columns" }, table));
}

const theoryWords = (t, unit) =>
  `${t.kernel.kind} kernel, noise ${withUnit(number(t.noise), unit)}, norm ${number(t.norm)}`;

function stopWords({ stop, unit }) {
  const rules = [
    stop.regret_bound && `when no candidate can be better by more than ${withUnit(number(stop.regret_bound), unit)}`,
    stop.observations && `after ${count(stop.observations)} results`,
    stop.date && `on ${fullTime(stop.date)}`,
  ].filter(Boolean);
  return rules.length ? rules.join(", or ") : "no rule";
}
