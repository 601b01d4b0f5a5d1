// The overview: the headline in words, then how it went.

import { chart } from "../charts/chart.js";
import { fill, h } from "../dom.js";
import { ago, count, fullTime, measured, number, plural, withUnit } from "../format.js";
import { empty } from "../parts.js";
import { benchPath } from "../router.js";
import { may } from "../session.js";
import { endedWords } from "./words.js";

export function overview(root, first) {
  let facts = first;
  const unit = () => facts.summary.unit;
  const said = (value, digits = 4) => withUnit(number(value, digits), unit());
  const headline = h(".headline"), stats = h(".stats"), benches = h("section.card.wide");
  const values = chart({ title: "Results and the best so far", height: 300, wallHeight: 468, marks: [], tip: ({ point }) => [h("b", said(point.value)), ` · result ${point.observation}`, h("br"), `best so far ${said(point.best)}`] });
  const bound = chart({ title: "How much better another candidate could be", fromZero: true, wallHeight: 180, marks: [], tip: ({ batch, y }) => [h("b", said(y, 3)), batch ? ` · when batch ${batch.number} was made` : " · now"] });
  const sizes = chart({ title: "Measurements in each batch", wallHeight: 180, marks: [], tip: ({ batch }) => [h("b", plural(batch.size, "measurement")), ` · batch ${batch.number}`, h("br"), endedWords(batch.ended), h("br"), `${batch.worker}, ${fullTime(batch.created_at)}`] });
  const model = chart({ title: "Size of the model", fromZero: true, marks: [], tip: ({ batch }) => [h("b", `Batch ${batch.number}`), h("br"), `dictionary ${count(batch.dictionary)}`, h("br"), `effective dimension ${number(batch.effective_dimension, 3)}`] });

  function update(now) {
    facts = now;
    const { summary, trace } = facts;
    fill(headline, summary.best_observed ? sentence(summary) : h("p", summary.headline));
    fill(stats, statistics(summary));
    fill(benches, openBatches(summary));
    const points = trace.progress.map((point, i) => ({ x: point.observation, y: point.value, point, i }));
    values.update({ marks: [
      { kind: "dots", points, hover: true },
      { kind: "dots", tone: "accent", hover: false, points: points.filter(({ point }, i) => i === 0 || point.best !== points[i - 1].point.best) },
      { kind: "step", tone: "accent", label: "best so far", hover: false, points: points.map(({ x, point }) => ({ x, y: point.best, point })) },
    ], empty: "The first result will appear here.", across: "results in the order they came" });
    const bounds = trace.batches.filter((batch) => batch.regret_bound !== null).map((batch) => ({ x: batch.number, y: batch.regret_bound, batch }));
    const latest = summary.certificate ? [{ x: (trace.batches.at(-1)?.number ?? 0) + 1, y: summary.certificate.regret_bound }] : [];
    bound.update({ marks: [{ kind: "band", hover: false, points: [...bounds, ...latest].map((point) => ({ ...point, low: 0 })) }, { kind: "line", tone: "accent", points: [...bounds, ...latest] }, { kind: "dots", tone: "accent", hover: false, points: latest, radius: 4 }], empty: "There is a bound as soon as something is measured.", across: "batch" });
    const issued = trace.batches.map((batch) => ({ x: batch.number, batch }));
    sizes.update({ marks: [{ kind: "bars", points: issued.map((point) => ({ ...point, y: point.batch.size, tone: point.batch.ended === "rule" ? "strong" : "" })) }], empty: "No batch yet.", across: "batch" });
    model.update({ marks: [
      { kind: "line", tone: "accent", label: "eff. dim.", points: issued.map((point) => ({ ...point, y: point.batch.effective_dimension })) },
      { kind: "line", tone: "soft", label: "dictionary", points: issued.map((point) => ({ ...point, y: point.batch.dictionary })) },
    ], empty: "No batch yet.", across: "batch" });
  }

  const nothing = !first.summary.counts.candidates;
  fill(root, nothing
    ? empty("file", "No candidates yet", may("manage") ? "Upload the list of what could be measured; then ask for the first batch." : "The owner of the study has not uploaded the list yet.")
    : [headline, stats, h(".charts",
      h("section.card.wide", h("header", h("h2", "Every result, and the best so far"), h("span.quiet.small", facts.summary.direction === "minimize" ? "smaller is better" : "larger is better")), values.element),
      h("section.card", h("header", h("h2", "How much better another could be"), h("span.quiet.small", "bound on the regret")), bound.element),
      h("section.card", h("header", h("h2", "Batch sizes"), h("span.legend", h("span.quiet.small", "strong: the algorithm's own rule ended it"))), sizes.element),
      benches,
      h("section.card.wide.secondary", h("header", h("h2", "Size of the model"), h("span.quiet.small", "dictionary and effective dimension")), model.element))]);
  update(first);
  return { update };
}

function sentence(summary) {
  const { best_observed: best, certificate: sure } = summary;
  const [before, after] = split(summary.headline, best.key);
  return [
    h("p.best", before, h("b", best.key), after),
    sure && h("details.small.quiet", h("summary", "What this rests on"), h("ul", sure.assumptions.map((one) => h("li", one)))),
    summary.finished && h("p.note.good", `The stop rule is met: ${summary.finished}. Results are still welcome.`),
  ];
}

// The sentence around the best candidate's key.
function split(text, key) {
  const at = text.indexOf(key);
  return [text.slice(0, at), text.slice(at + key.length)];
}

function statistics(summary) {
  const { counts, best_predicted: predicted, certificate: sure, unit } = summary;
  const one = (label, value, detail) => h(".stat", h("span.quiet.small", label), h("strong.number", value), h("span.quiet.small.clip", detail ?? ""));
  return [
    sure && one("Still to gain, at most", withUnit(number(sure.regret_bound, 3), unit), `${Math.round(sure.confidence * 100)} % confidence${sure.estimate ? ", estimate" : ""}`),
    predicted && one("Expected best", measured(predicted.mean, predicted.std, unit), h("span.key", predicted.key)),
    one("Candidates measured", `${count(counts.measured)}`, `of ${count(counts.candidates)}${counts.available < counts.candidates ? `, ${count(counts.candidates - counts.available)} switched off` : ""}`),
    one("Results", count(counts.observations), plural(counts.batches, "batch", "batches")),
    one("Waited for", count(counts.pending), plural(summary.open_batches.length, "open batch", "open batches")),
  ];
}

function openBatches(summary) {
  const head = h("header", h("h2", "On the benches"));
  if (!summary.open_batches.length) return [head, h("p.quiet", "Nothing is being measured.")];
  return [head, h("ul.benches", summary.open_batches.map((batch) => {
    const done = batch.size - batch.pending;
    const bar = h("span");
    bar.style.width = `${(100 * done) / batch.size}%`;
    return h("li", h("a", { href: benchPath(summary.name, batch.worker) }, batch.worker), h("span.quiet.small", `batch ${batch.number}, ${ago(batch.created_at)}`),
      batch.overdue && h("span.chip.warn", "overdue"), h(".track", bar), h("span.number.small", `${done} of ${batch.size}`));
  }))];
}
