// One study: its title, then its parts. Everything follows the ledger live.

import { get, study as path } from "../api.js";
import { showStatus } from "../bar.js";
import { delayed, fill, h, settled } from "../dom.js";
import { icon } from "../icons.js";
import { follow } from "../live.js";
import { benchPath, go, studyPath } from "../router.js";
import { may } from "../session.js";
import { askForBatch } from "./asking.js";
import { stateChip } from "./studies.js";
import { batches } from "./study_batches.js";
import { events } from "./study_events.js";
import { map } from "./study_map.js";
import { overview } from "./study_overview.js";
import { settings } from "./study_settings.js";
import { candidates } from "./study_table.js";

const PARTS = { overview, candidates, map, batches, events, settings };
const TITLES = {
  overview: "Overview",
  candidates: "Candidates",
  map: "Map",
  batches: "Batches",
  events: "Timeline",
  settings: "Settings",
};

export async function study(root, params, wanted) {
  const name = params.study;
  const read = async () => {
    const [study, summary, trace] = await Promise.all([
      get(path(name)),
      get(path(name, "/summary")),
      get(path(name, "/trace")),
    ]);
    return { name, study, summary, trace };
  };
  let facts = await read();
  if (!wanted()) return null;

  const head = h(".head.tall"),
    tabs = h("nav.tabs", { "aria-label": "Parts of the study" }),
    body = h(".part");
  let part = null,
    shown = "";
  fill(root, h(".page", head, tabs, body));

  function turn({ part: asked }) {
    shown = asked in PARTS ? asked : "overview";
    part?.leave?.();
    fill(
      tabs,
      Object.entries(TITLES).map(([key, title]) =>
        h(
          "a",
          { href: studyPath(name, key === "overview" ? "" : key), "aria-current": key === shown ? "page" : null },
          title,
        ),
      ),
    );
    fill(body);
    part = PARTS[shown](body, facts, look);
  }

  async function look() {
    const before = facts.summary;
    facts = await read();
    if (facts.summary === before) return;
    title();
    part?.update?.(facts);
  }

  const tell = settled(head);
  const title = () =>
    tell([facts.study, facts.summary.state, facts.summary.finished, facts.summary.counts.available > 0], () =>
      heading(facts, look),
    );
  const soon = delayed(() => look().catch(() => {}), 120);
  title();
  turn(params);
  const stop = follow(name, {
    seq: facts.summary.seq,
    look,
    onStatus: showStatus,
    onChange: (event) => {
      part?.event?.(event);
      soon();
    },
  });
  return {
    turn,
    leave: () => {
      stop();
      part?.leave?.();
      delete document.documentElement.dataset.wall;
    },
  };
}

function heading(facts, look) {
  const {
    name,
    study: { configuration },
    summary,
  } = facts;
  const askable = may("ask") && summary.state === "active" && !summary.finished && summary.counts.available > 0;
  return [
    h(
      ".titles",
      h(".row", h("h1", name), stateChip(summary)),
      configuration.description && h("p.quiet", configuration.description),
    ),
    h(
      ".row.actions",
      h(
        "button.plain.icon.wall-button",
        { "aria-label": "Wall screen", title: "Wall screen", onclick: wall },
        icon("wall"),
      ),
      may("report") && h("a.button", { href: benchPath(name) }, icon("flask"), "Bench"),
      askable &&
        h(
          "button.primary",
          {
            onclick: () =>
              askForBatch(name, (batch) => {
                look();
                go(benchPath(name, batch.worker));
              }),
          },
          "Ask for a batch",
        ),
    ),
  ];
}

async function wall() {
  const root = document.documentElement;
  if ("wall" in root.dataset) {
    delete root.dataset.wall;
    if (document.fullscreenElement) await document.exitFullscreen();
  } else {
    root.dataset.wall = "";
    await root.requestFullscreen?.().catch(() => {});
  }
  dispatchEvent(new Event("resize"));
}

addEventListener("keydown", (event) => {
  if (event.key === "Escape") delete document.documentElement.dataset.wall;
});
addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) delete document.documentElement.dataset.wall;
});
