// A candidate as a row: what the model expects with an error bar, its status, and buttons to pin or exclude it.

import { change, study as path } from "../api.js";
import { h, s } from "../dom.js";
import { cell, measured, number } from "../format.js";
import { icon } from "../icons.js";
import { ask, toast } from "../parts.js";
import { may } from "../session.js";

export function columnsOf({ study, summary }) {
  const own = study.columns
    .filter((column) => column.role !== "key")
    .sort((a, b) => (b.role === "feature") - (a.role === "feature")); // features first, else as they are
  return [
    { hidden: "Pin", title: "", width: "44px", cell: pinCell },
    { title: "Key", width: "minmax(120px, 1.2fr)", cell: ({ key }) => h("b.key.clip", { title: key }, key) },
    {
      title: `Expected ${summary.objective}`,
      sort: "mean",
      falling: summary.direction !== "minimize",
      width: "minmax(240px, 2.4fr)",
      cell: beliefCell,
    },
    { title: "Status", width: "192px", cell: statusCell },
    ...own.slice(0, 40).map((column) => ({
      title: column.name,
      sort: column.name,
      width: "minmax(96px, 1fr)",
      class: column.kind === "number" ? "right number" : "",
      cell: ({ features, attributes }) =>
        h("span.clip", cell((column.role === "feature" ? features : attributes)[column.name])),
    })),
    ...(may("manage") ? [{ hidden: "Availability", title: "", width: "52px", cell: switchCell }] : []),
  ];
}

export function row(candidate, columns, context) {
  return h(
    ".tr",
    { role: "row", class: candidate.available ? "" : "off" },
    columns.map((column) => h("span", { role: "cell", class: column.class ?? "" }, column.cell(candidate, context))),
  );
}

function beliefCell({ belief }, { facts, domain }) {
  if (!belief) return h("span.quiet", "–");
  const [low, high] = domain;
  const at = (value) => Math.min(100, Math.max(0, ((value - low) / (high - low || 1)) * 100));
  const words = `${number(belief.mean)}, between ${number(belief.lower)} and ${number(belief.upper)}`;
  return h(
    ".belief",
    { title: words },
    s(
      "svg",
      { viewBox: "0 0 100 14", preserveAspectRatio: "none", role: "img", "aria-label": words },
      s("line.whole", { x1: 0, x2: 100, y1: 7, y2: 7 }),
      s("line.span", { x1: at(belief.lower), x2: at(belief.upper), y1: 7, y2: 7 }),
      s("line.mean", { x1: at(belief.mean), x2: at(belief.mean), y1: 1, y2: 13 }),
    ),
    h("span.number", measured(belief.mean, belief.std, facts.summary.unit)),
  );
}

function statusCell({ belief, available, reason }) {
  if (!available)
    return h("span.chip.clip", { title: reason ?? "" }, reason ? `unavailable: ${reason}` : "unavailable");
  const times = belief?.counts ?? belief?.count ?? 0;
  return [
    times > 0 ? h("span.chip.accent", times > 1 ? `measured ${times}×` : "measured") : null,
    belief?.pending > 0 ? h("span.chip.warn", "in progress") : null,
  ];
}

export const pinned = (name) => JSON.parse(localStorage.getItem(`nextbatch:pins:${name}`) ?? "[]");

function pinCell({ key }, { facts, onPin }) {
  const pins = pinned(facts.name),
    on = pins.includes(key);
  return h(
    "button.plain.icon.small.pin",
    {
      "aria-pressed": String(on),
      "aria-label": on ? `Unpin ${key}` : `Pin ${key}`,
      "data-focus": `pin ${key}`,
      onclick: () => {
        localStorage.setItem(
          `nextbatch:pins:${facts.name}`,
          JSON.stringify(on ? pins.filter((other) => other !== key) : [...pins, key]),
        );
        onPin();
      },
    },
    icon("pin", 16),
  );
}

function switchCell({ key, available }, { facts, onChange }) {
  const put = async (body) => {
    await change("PATCH", path(facts.name, `/candidates/${key.split("/").map(encodeURIComponent).join("/")}`), body);
    toast(`${key} is now ${body.available ? "available" : "unavailable"}.`);
    onChange();
  };
  const act = () =>
    available
      ? ask({
          title: `Mark ${key} as unavailable`,
          text: "It will no longer be suggested. Its results stay.",
          confirm: "Mark as unavailable",
          danger: true,
          fields: [{ name: "reason", label: "Reason", required: true, maxlength: 200, placeholder: "out of stock" }],
          act: ({ reason }) => put({ available: false, reason }),
        })
      : ask({
          title: `Mark ${key} as available`,
          text: "It may be suggested again.",
          confirm: "Mark as available",
          act: () => put({ available: true }),
        });
  return h(
    "button.plain.icon.small",
    {
      "aria-label": `Mark ${key} as ${available ? "unavailable" : "available"}`,
      title: available ? "Mark as unavailable" : "Mark as available",
      "data-focus": `switch ${key}`,
      onclick: act,
    },
    icon("off", 16),
  );
}
