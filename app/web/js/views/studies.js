// All studies at a glance: state, progress, best so far and how much better another could still be.

import { get, pages, study as path } from "../api.js";
import { showStatus } from "../bar.js";
import { spark } from "../charts/spark.js";
import { fill, h } from "../dom.js";
import { ago, count, number, plural, withUnit } from "../format.js";
import { choices, empty, failed } from "../parts.js";
import { benchPath, studyPath } from "../router.js";
import { may } from "../session.js";

const EVERY = 4_000;

export async function studies(root, _params, wanted) {
  const list = h(".cards");
  const cards = new Map();
  let filter = "open",
    timer = 0,
    stopped = false;

  async function look() {
    const all = [];
    for await (const page of pages("/v1/studies")) all.push(...page.studies);
    const shown = all
      .reverse()
      .filter((study) => filter === "all" || (filter === "open") === (study.state !== "archived"));
    if (!all.length) return fill(list, nothing());
    if (!shown.length)
      return fill(
        list,
        empty("file", "No studies here", filter === "open" ? "Every study is archived." : "No study is archived."),
      );
    for (const { name } of shown) if (!cards.has(name)) cards.set(name, card(name));
    fill(
      list,
      shown.map(({ name }) => cards.get(name).element),
    );
    await Promise.all(shown.map((study) => cards.get(study.name).look(study)));
  }

  async function again() {
    try {
      await look();
      showStatus("live");
    } catch (error) {
      showStatus(error.code === "offline" ? "offline" : "polling");
    }
    if (!stopped) timer = setTimeout(again, document.hidden ? EVERY * 5 : EVERY);
  }

  const head = h(
    ".head",
    h("h1", "Studies"),
    h("span.push"),
    choices(
      "Which studies",
      [
        ["open", "Open"],
        ["archived", "Archived"],
        ["all", "All"],
      ],
      filter,
      (choice) => {
        filter = choice;
        look().catch((error) => fill(list, failed(error, look)));
      },
    ),
    may("manage") && h("a.button.primary", { href: "/create" }, "New study"),
  );
  await look();
  if (!wanted()) return null;
  fill(root, h(".page", head, list));
  showStatus("live");
  timer = setTimeout(again, EVERY);
  return {
    leave: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function nothing() {
  return may("manage")
    ? empty(
        "flask",
        "No studies yet",
        "A study starts with a list of candidates: a CSV or Excel file with one row for each thing you could measure.",
        h("a.button.primary", { href: "/create" }, "New study"),
      )
    : empty("flask", "No studies yet", "Studies that your key has access to appear here.");
}

// One study's card. It is redrawn only when the study has changed.
function card(name) {
  const element = h("article.card.study-card");
  let last = null;
  return {
    element,
    async look(study) {
      try {
        const [summary, trace] = await Promise.all([get(path(name, "/summary")), get(path(name, "/trace"))]);
        if (summary === last) return;
        last = summary;
        fill(element, front(study, summary, trace));
      } catch (error) {
        if (error.code === "offline" || error.status === 401) throw error;
        fill(element, h("header", h("h2", h("a", { href: studyPath(name) }, name))), h("p.quiet", error.message));
      }
    },
  };
}

function front(study, summary, trace) {
  const { counts, certificate: sure, unit } = summary;
  const bounds = trace.batches.map((batch) => batch.regret_bound);
  const last = trace.batches.at(-1);
  return [
    h(
      "header",
      h("h2", h("a.cover", { href: studyPath(study.name) }, study.name)),
      stateChip(summary),
      h("span.push"),
      last && h("span.small.quiet", { title: "Newest batch" }, ago(last.created_at)),
    ),
    study.configuration.description && h("p.quiet.small.clamp", study.configuration.description),
    !summary.best_observed && h("p.waiting-card", beforeTheFirstResult(counts)),
    summary.best_observed &&
      h(
        ".pair",
        figure(
          `Best ${summary.objective}`,
          summary.best_observed ? withUnit(number(summary.best_observed.mean), unit) : "–",
          summary.best_observed?.key,
          spark(
            trace.progress.map((point) => point.best),
            { title: "Best so far", step: true },
          ),
        ),
        figure(
          "Possible improvement",
          sure ? `≤ ${withUnit(number(sure.regret_bound, 3), unit)}` : "–",
          sure && `${Math.round(sure.confidence * 100)} % confidence`,
          spark([...bounds.filter((bound) => bound !== null), ...(sure ? [sure.regret_bound] : [])], {
            title: "Possible improvement",
            tone: "quiet",
          }),
        ),
      ),
    progress(counts),
    summary.open_batches.length > 0 &&
      h(
        ".row.benches",
        summary.open_batches
          .slice(0, 6)
          .map((batch) =>
            h(
              "a.chip.above",
              { class: batch.overdue ? "warn" : "accent", href: benchPath(study.name, batch.worker) },
              `${batch.worker}: ${batch.size - batch.pending} of ${batch.size}`,
            ),
          ),
      ),
  ];
}

function beforeTheFirstResult({ candidates, pending }) {
  if (!candidates) return "No candidates yet.";
  if (!pending) return "Ready for its first batch.";
  return `${plural(pending, "measurement")} under way, no result yet.`;
}

const figure = (label, value, detail, chart) =>
  h(
    ".figure",
    h("span.quiet.small", label),
    h("strong.number", value),
    h("span.small.quiet.number.clip", detail ?? ""),
    chart,
  );

export function progress(counts) {
  const share = counts.candidates ? counts.measured / counts.candidates : 0;
  const fillBar = h("span");
  fillBar.style.width = `${Math.max(share * 100, counts.measured ? 1 : 0)}%`;
  return h(
    ".progress",
    h(
      ".track",
      { role: "img", "aria-label": `${counts.measured} of ${counts.candidates} candidates measured` },
      fillBar,
    ),
    h(
      "span.small.quiet.number",
      `${count(counts.measured)} of ${plural(counts.candidates, "candidate")} measured · ${plural(counts.observations, "result")} · ${plural(counts.batches, "batch", "batches")}`,
    ),
  );
}

export function stateChip(summary) {
  if (summary.finished) return h("span.chip.accent", "finished");
  return {
    active: h("span.chip.accent", "active"),
    paused: h("span.chip.warn", "paused"),
    archived: h("span.chip", "archived"),
  }[summary.state];
}
