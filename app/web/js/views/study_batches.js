// The history of batches: what each asked for, why it ended; computed again on demand and compared bit for bit.

import { get, send, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { cell, count, fullTime, number, shortTime, withUnit } from "../format.js";
import { icon } from "../icons.js";
import { empty, explain } from "../parts.js";
import { benchPath } from "../router.js";
import { endedBriefly, endedWords } from "./words.js";

export function batches(root, first) {
  let facts = first;
  const verdict = h("span.small", { role: "status" }), body = h("tbody"), results = new Map(), opened = new Set();

  const verify = async (event) => {
    event.target.disabled = true;
    fill(verdict, "Checking …");
    try {
      const answer = await (await send("POST", path(facts.name, "/verify"))).json();
      fill(verdict, answer.sound
        ? h("span.chip.accent", icon("check", 14), `The chain of ${count(answer.events)} events is sound`)
        : h("span.chip.bad", `The chain is broken at event ${answer.broken_at}`));
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
      const builds = answer.recorded_build === answer.this_build ? "" : " (made by another build)";
      results.set(number, answer.equal ? h("span.chip.accent", icon("check", 14), "the same, bit for bit") : h("span.chip.warn", `differs in ${answer.differences.join(" and ")}${builds}`));
    } catch (error) {
      results.set(number, h("span.chip.bad", explain(error)));
    }
    draw();
  };

  const open = (number) => { if (!opened.delete(number)) opened.add(number); draw(); };

  function draw() {
    const unit = facts.summary.unit;
    fill(body, [...facts.trace.batches].reverse().flatMap((batch) => {
      const shown = opened.has(batch.number);
      return [
        h("tr",
          h("td", h("button.plain.small", { "aria-expanded": String(shown), "aria-label": `Batch ${batch.number}, show its suggestions`, onclick: () => open(batch.number) }, shown ? "▾" : "▸", h("b.number", ` ${batch.number}`))),
          h("td", h("a", { href: benchPath(facts.name, batch.worker) }, batch.worker), batch.state === "open" ? h("span.chip.accent.gap", "open") : null),
          h("td.right.number", batch.size),
          h("td", { title: endedWords(batch.ended) }, endedBriefly(batch.ended), Object.keys(batch.degraded).length ? h("span.chip.warn.gap", { title: JSON.stringify(batch.degraded) }, "degraded") : null),
          h("td.right.number", batch.regret_bound === null ? "–" : withUnit(number(batch.regret_bound, 3), unit)),
          h("td.right.number", count(batch.dictionary)),
          h("td.right.number", number(batch.effective_dimension, 3)),
          h("td.nowrap", { title: fullTime(batch.created_at) }, shortTime(batch.created_at)),
          h("td.right", results.get(batch.number) ?? h("button.small", { "aria-label": `Compute batch ${batch.number} again and compare`, onclick: () => replay(batch.number) }, "Replay"))),
        shown ? h("tr.inner", h("td", { colspan: 9 }, suggestions(facts.name, batch.number, unit))) : null,
      ];
    }));
  }

  function update(now) {
    facts = now;
    if (!facts.trace.batches.length) return fill(root, empty("flask", "No batch yet", "The first ask makes the first batch."));
    draw();
    if (!body.isConnected) fill(root, h("section.card", h("header", h("h2", "Batches"), h("span.quiet.small", "the newest first"), h("span.push"), verdict, h("button.small", { onclick: verify }, "Verify the ledger")),
      h(".scroll", { tabindex: "0", role: "region", "aria-label": "Batches, scrollable" }, h("table.plain.batches", h("thead", h("tr", ["Batch", "Worker", "Size", "Why it ended", "Bound then", "Dictionary", "Eff. dim.", "Made", "Check"].map((title, i) => h("th", { class: [2, 4, 5, 6, 8].includes(i) ? "right" : "", scope: "col" }, title)))), body))));
  }

  update(first);
  return { update };
}

function suggestions(name, batch, unit) {
  const list = h(".why-list", h("p.quiet.small", "Reading …"));
  get(path(name, `/batches/${batch}`)).then((found) => fill(list, found.suggestions.map((one) => h(".why",
    h("b.key", one.key), h("span.chip", { class: one.state === "observed" ? "accent" : one.state === "pending" ? "" : "warn" }, one.state),
    one.replicates > 1 ? h("span.chip", `${one.replicates}×`) : null,
    h("span.quiet.small", one.why.mean === null ? one.why.words : `${one.why.words} Expected then ${withUnit(number(one.why.mean), unit)}.`),
    h("span.quiet.small", Object.entries(one.features).slice(0, 6).map(([key, value]) => `${key} ${cell(value)}`).join(" · "))))),
  (error) => fill(list, h("p.note.bad", explain(error))));
  return list;
}

