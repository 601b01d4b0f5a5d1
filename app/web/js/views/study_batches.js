// The history of batches: what each suggested and why it has its size. Any batch can be recomputed and compared.

import { get, study as path, send } from "../api.js";
import { fill, h } from "../dom.js";
import { cell, count, fullTime, number, plural, shortTime, withUnit } from "../format.js";
import { icon } from "../icons.js";
import { downloads, empty, explain } from "../parts.js";
import { benchPath } from "../router.js";
import { endedWords, stateWords } from "./words.js";

const TITLES = ["Batch", "Worker", "Size", "Why this size", "Possible improvement", "Issued", "Check"];
const RIGHT = ["Size", "Possible improvement", "Check"];
const TONES = { observed: "accent", pending: "" };

export function batches(root, first) {
  let facts = first;
  const verdict = h("span.small", { role: "status" }),
    body = h("tbody"),
    results = new Map(),
    opened = new Set();

  const verify = async (event) => {
    event.target.disabled = true;
    fill(verdict, "Checking …");
    try {
      const answer = await (await send("POST", path(facts.name, "/verify"))).json();
      fill(
        verdict,
        answer.sound
          ? h("span.chip.accent", icon("check", 14), `All ${count(answer.events)} events are intact`)
          : h("span.chip.bad", `Event ${answer.broken_at} was altered`),
      );
    } catch (error) {
      fill(verdict, h("span.chip.bad", explain(error)));
    }
    event.target.disabled = false;
  };

  const replay = async (number) => {
    results.set(number, h("span.quiet.small", "Computing …"));
    draw();
    try {
      const answer = await (await send("POST", path(facts.name, `/batches/${number}/replay`))).json();
      const builds = answer.recorded_build === answer.this_build ? "" : " (computed by another version of the server)";
      results.set(
        number,
        answer.equal
          ? h("span.chip.accent", icon("check", 14), "identical, bit for bit")
          : h("span.chip.warn", `differs in ${answer.differences.join(" and ")}${builds}`),
      );
    } catch (error) {
      results.set(number, h("span.chip.bad", explain(error)));
    }
    draw();
  };

  const open = (number) => {
    if (!opened.delete(number)) opened.add(number);
    draw();
  };

  function draw() {
    const newestFirst = [...facts.trace.batches].reverse();
    fill(
      body,
      newestFirst.map((batch) => [batchRow(batch), opened.has(batch.number) && suggestionsRow(batch)]),
    );
  }

  function batchRow(batch) {
    const bound =
      batch.regret_bound === null ? "–" : `≤ ${withUnit(number(batch.regret_bound, 3), facts.summary.unit)}`;
    return h(
      "tr",
      h("td", openButton(batch.number)),
      h(
        "td",
        h("a", { href: benchPath(facts.name, batch.worker) }, batch.worker),
        batch.state === "open" && h("span.chip.accent.gap", "open"),
      ),
      h("td.right.number", batch.size),
      h("td", endedWords(batch.ended), degradedChip(batch)),
      h("td.right.number", { title: "At most, when the batch was issued" }, bound),
      h("td.nowrap", { title: fullTime(batch.created_at) }, shortTime(batch.created_at)),
      h("td.right", results.get(batch.number) ?? replayButton(batch.number)),
    );
  }

  function openButton(number) {
    const shown = opened.has(number);
    return h(
      "button.plain.small",
      {
        "aria-expanded": String(shown),
        "aria-label": `Batch ${number}, show its suggestions`,
        onclick: () => open(number),
      },
      shown ? "▾" : "▸",
      h("b.number", ` ${number}`),
    );
  }

  function replayButton(number) {
    const label = `Compute batch ${number} again and compare`;
    return h("button.small", { "aria-label": label, onclick: () => replay(number) }, "Replay");
  }

  const suggestionsRow = (batch) =>
    h(
      "tr.inner",
      h("td", { colspan: TITLES.length }, suggestions(facts.name, batch.number, facts.summary.unit), modelLine(batch)),
    );

  function update(now) {
    facts = now;
    if (!facts.trace.batches.length) return fill(root, empty("flask", "No batch yet", "Ask for a batch to start."));
    draw();
    if (!body.isConnected)
      fill(
        root,
        h(
          "section.card",
          h(
            "header",
            h("h2", "Batches"),
            h("span.quiet.small", "newest first"),
            h("span.push"),
            verdict,
            downloads(path(facts.name, "/observations"), `${facts.name}-results`, "Results", "small"),
            h("button.small", { onclick: verify }, "Verify the ledger"),
          ),
          h(
            ".scroll",
            { tabindex: "0", role: "region", "aria-label": "Batches, scrollable" },
            h(
              "table.plain.batches",
              h(
                "thead",
                h(
                  "tr",
                  TITLES.map((title) => h("th", { class: RIGHT.includes(title) ? "right" : "", scope: "col" }, title)),
                ),
              ),
              body,
            ),
          ),
        ),
      );
  }

  update(first);
  return { update };
}

function degradedChip({ degraded }) {
  const rescues = Object.entries(degraded).map(([name, times]) => `${name} ${times}×`);
  if (!rescues.length) return null;
  return h("span.chip.warn.gap", { title: `Numerical problems were worked around: ${rescues.join(", ")}` }, "degraded");
}

// For the audit: what the model was when it chose the batch.
function modelLine(batch) {
  const points = `${plural(batch.dictionary, "reference point")} (dictionary)`;
  const dimension = `effective dimension ${number(batch.effective_dimension, 3)}`;
  return h("p.quiet.small", `The model had ${points} and the ${dimension}.`);
}

function suggestions(name, number, unit) {
  const list = h(".why-list", h("p.quiet.small", "Loading …"));
  get(path(name, `/batches/${number}`)).then(
    (batch) =>
      fill(
        list,
        batch.suggestions.map((suggestion) => suggestionLine(suggestion, unit)),
      ),
    (error) => fill(list, h("p.note.bad", explain(error))),
  );
  return list;
}

function suggestionLine({ key, state, replicates, why, features }, unit) {
  const expected = why.mean === null ? "" : ` Expected at the time: ${withUnit(number(why.mean), unit)}.`;
  const settings = Object.entries(features).slice(0, 6);
  return h(
    ".why",
    h("b.key", key),
    h("span.chip", { class: TONES[state] ?? "warn" }, stateWords(state)),
    replicates > 1 && h("span.chip", `${replicates}×`),
    h("span.quiet.small", why.words + expected),
    h("span.quiet.small", settings.map(([name, value]) => `${name} ${cell(value)}`).join(" · ")),
  );
}
