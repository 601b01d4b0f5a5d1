// The candidates: any number of rows, of which only the visible ones exist. The server sorts and filters.

import { get, study as path, query } from "../api.js";
import { delayed, fill, framed, h } from "../dom.js";
import { count, plural } from "../format.js";
import { icon } from "../icons.js";
import { downloads, empty, explain } from "../parts.js";
import { may } from "../session.js";
import { uploadDialog } from "../upload.js";
import { columnsOf, pinned, row } from "./study_row.js";

const ROW = 46,
  PAGE = 200;

const SORTED = { up: "ascending", down: "descending" };
const ARROWS = { up: " ↑", down: " ↓" };

export function candidates(root, first) {
  let facts = first,
    total = 0,
    chunks = new Map(),
    domain = [0, 1],
    round = 0;
  const asked = { sort: "", search: "", available: "", where: [] };
  const columns = columnsOf(first);
  if (first.summary.counts.observations) asked.sort = first.summary.direction === "minimize" ? "mean" : "-mean";
  const complaint = h("p.note.bad", { role: "alert", hidden: true });
  const tally = h("span.quiet.small.number", { role: "status" });
  const head = h(".tr.th", { role: "row" }),
    rows = h(".rows", { role: "rowgroup" }),
    kept = h(".rows.pins", { role: "rowgroup" });
  const table = h(
    ".table",
    { role: "table", "aria-label": "Candidates" },
    h("div", { role: "rowgroup" }, head),
    kept,
    rows,
  );
  const frame = h(".table-frame", { tabindex: "0", role: "region", "aria-label": "Candidates, scrollable" }, table);
  const chips = h(".row");
  table.style.setProperty("--columns", columns.map((column) => column.width).join(" "));

  const address = (more) => path(facts.name, "/candidates") + query({ ...asked, posterior: true, ...more });

  async function chunk(number, mine) {
    if (chunks.has(number)) return;
    chunks.set(number, null);
    try {
      const page = await get(address({ offset: number * PAGE, limit: PAGE }));
      if (mine !== round) return;
      chunks.set(number, joined(page));
      if (page.total !== total) {
        total = page.total;
        size();
      }
      draw();
    } catch (error) {
      if (mine === round) complain(error);
    }
  }

  function size() {
    rows.style.height = `${total * ROW}px`;
    table.setAttribute("aria-rowcount", total + 1);
    fill(
      tally,
      plural(total, "candidate"),
      total < facts.summary.counts.candidates ? ` of ${count(facts.summary.counts.candidates)}` : "",
    );
  }

  const draw = framed(() => {
    const top = Math.max(0, frame.scrollTop - head.offsetHeight - kept.offsetHeight);
    const from = Math.max(0, Math.floor(top / ROW) - 6),
      to = Math.min(total, Math.ceil((top + frame.clientHeight) / ROW) + 6);
    const shown = [];
    for (let i = from; i < to; i += 1) {
      const number = Math.floor(i / PAGE);
      chunk(number, round);
      const candidate = chunks.get(number)?.[i % PAGE];
      const element = candidate
        ? row(candidate, columns, context())
        : h(".tr.ghost", { role: "row" }, h("span", { role: "cell" }, "…"));
      element.style.transform = `translateY(${i * ROW}px)`;
      element.setAttribute("aria-rowindex", i + 2);
      shown.push(element);
    }
    const active = document.activeElement?.dataset?.focus;
    fill(rows, shown);
    if (active) rows.querySelector(`[data-focus="${CSS.escape(active)}"]`)?.focus({ preventScroll: true });
  });

  const context = () => ({
    facts,
    domain,
    onPin: () => {
      pins();
      draw();
    },
    onChange: reload,
  });

  async function pins() {
    const keys = pinned(facts.name);
    const found = await Promise.all(
      keys.map((key) =>
        get(path(facts.name, "/candidates") + query({ search: key, posterior: true, limit: 50 })).then((page) =>
          joined(page).find((candidate) => candidate.key === key),
        ),
      ),
    );
    kept.style.height = `${found.filter(Boolean).length * ROW}px`;
    fill(
      kept,
      found.filter(Boolean).map((candidate, i) => {
        const element = row(candidate, columns, context());
        element.style.transform = `translateY(${i * ROW}px)`;
        return element;
      }),
    );
  }

  async function reload() {
    round += 1;
    chunks = new Map();
    complaint.hidden = true;
    header();
    try {
      const [high, low] = await Promise.all(
        ["-upper", "lower"].map((sort) =>
          get(path(facts.name, "/candidates") + query({ posterior: true, sort, limit: 1 })),
        ),
      );
      if (high.posterior?.length) domain = [low.posterior[0].lower, high.posterior[0].upper];
    } catch {
      /* nothing is measured yet: no error bars */
    }
    pins().catch(() => {});
    await chunk(0, round);
    draw();
  }

  function complain(error) {
    complaint.hidden = false;
    fill(complaint, explain(error));
    total = 0;
    size();
    fill(rows);
  }

  function header() {
    const titleOf = (column) =>
      column.sort ? sortButton(column) : column.title || h("span.visually-hidden", column.hidden);
    const sorted = (column) => (column.sort ? (SORTED[direction(column)] ?? "none") : null);
    fill(
      head,
      columns.map((column) =>
        h("span", { role: "columnheader", class: column.class ?? "", "aria-sort": sorted(column) }, titleOf(column)),
      ),
    );
  }

  const direction = ({ sort }) => ({ [sort]: "up", [`-${sort}`]: "down" })[asked.sort];

  function sortButton(column) {
    const order = column.falling ? [`-${column.sort}`, column.sort] : [column.sort, `-${column.sort}`];
    const onclick = () => {
      asked.sort = order[order.indexOf(asked.sort) + 1] ?? "";
      frame.scrollTop = 0;
      reload();
    };
    return h("button.plain", { onclick }, column.title, ARROWS[direction(column)]);
  }

  function conditions() {
    fill(
      chips,
      asked.where.map((condition) =>
        h(
          "button.chip",
          {
            "aria-label": `Remove the filter ${condition}`,
            onclick: () => {
              asked.where = asked.where.filter((other) => other !== condition);
              conditions();
              reload();
            },
          },
          condition,
          " ×",
        ),
      ),
    );
  }

  const search = delayed((text) => {
    asked.search = text;
    frame.scrollTop = 0;
    reload();
  }, 200);
  const tools = h(
    ".row.tools",
    h("input.search", {
      type: "search",
      placeholder: "Find a key",
      "aria-label": "Find a key",
      oninput: (event) => search(event.target.value),
    }),
    h("input.search", {
      placeholder: exampleOf(first),
      "aria-label": "Add a filter, such as column>=number",
      onkeydown: (event) => {
        if (event.key !== "Enter" || !event.target.value.trim()) return;
        asked.where = [...asked.where, event.target.value.trim()];
        event.target.value = "";
        conditions();
        reload();
      },
    }),
    h(
      "select.search",
      {
        "aria-label": "Which candidates",
        onchange: (event) => {
          asked.available = event.target.value;
          reload();
        },
      },
      h("option", { value: "" }, "All candidates"),
      h("option", { value: "true" }, "Available"),
      h("option", { value: "false" }, "Unavailable"),
    ),
    chips,
    h(
      "span.tally",
      tally,
      downloads(path(first.name, "/candidates"), `${first.name}-candidates`, "List", "small"),
      addButton(first, reload),
    ),
  );

  if (!first.summary.counts.candidates) {
    fill(root, empty("file", "No candidates yet", "Upload the list of candidates first.", addButton(first, reopen)));
    return {};
  }
  frame.addEventListener("scroll", draw, { passive: true });
  const watch = new ResizeObserver(draw);
  watch.observe(frame);
  fill(root, tools, complaint, frame);
  header();
  reload();
  const later = delayed(reload, 300);
  return {
    update: (now) => {
      facts = now;
      later();
    },
    leave: () => watch.disconnect(),
  };
}

// The posterior comes as a list beside the candidates.
export function joined(page) {
  return page.candidates.map((candidate, i) => ({ ...candidate, belief: page.posterior?.[i] ?? null }));
}

const reopen = () => location.reload();

// A study keeps its list; more candidates are added to it, in the same columns.
function addButton({ name, summary }, onSaved) {
  if (!may("manage") || summary.state === "archived") return null;
  const onclick = () =>
    uploadDialog({
      title: "Add candidates",
      prompt: "Drop a list with the same columns here, or choose it",
      method: summary.counts.candidates ? "POST" : "PUT",
      address: path(name, "/candidates"),
      review: ({ added }) => ({
        words: h("b", plural(added, "new candidate")),
        button: added ? `Add ${plural(added, "candidate")}` : null,
      }),
      done: ({ added }) => `${plural(added, "candidate")} added.`,
      onSaved,
    });
  return h("button.small", { onclick }, icon("up"), "Add candidates");
}

function exampleOf({ study }) {
  const features = study.columns.filter((column) => column.role === "feature");
  const column = features.find((feature) => feature.kind === "number") ?? features[0];
  return column
    ? `Filter: ${column.name}${column.kind === "number" ? ">=1" : `=${column.levels?.[0] ?? "…"}`}`
    : "Filter: column=value";
}
