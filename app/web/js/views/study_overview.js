// The overview: what is known in a sentence, then how it went.

import { chart } from "../charts/chart.js";
import { fill, h } from "../dom.js";
import { ago, count, fullTime, measured, number, plural, withUnit } from "../format.js";
import { empty } from "../parts.js";
import { benchPath } from "../router.js";
import { may } from "../session.js";
import { endedWords, finishedWords } from "./words.js";

const MODEL_WORDS =
  "The model is built on reference points, measured candidates that stand for all results (the dictionary). The " +
  "effective dimension is about how many independent directions the results have explored so far.";

export function overview(root, first) {
  let facts = first;
  const unit = () => facts.summary.unit;
  const shown = (value, digits = 4) => withUnit(number(value, digits), unit());
  const headline = h(".headline"),
    stats = h(".stats"),
    benches = h("section.card.wide");
  const values = chart({
    title: "Results and the best so far",
    height: 300,
    wallHeight: 468,
    marks: [],
    tip: ({ point }) => [
      h("b", shown(point.value)),
      ` · result ${point.observation}`,
      h("br"),
      `best so far ${shown(point.best)}`,
    ],
  });
  const bound = chart({
    title: "How much better another candidate could be",
    fromZero: true,
    wallHeight: 180,
    marks: [],
    tip: ({ batch, y }) => [h("b", shown(y, 3)), batch ? ` · when batch ${batch.number} was issued` : " · now"],
  });
  const sizes = chart({
    title: "Measurements in each batch",
    wallHeight: 180,
    marks: [],
    tip: ({ batch }) => [
      h("b", plural(batch.size, "measurement")),
      ` · batch ${batch.number}`,
      h("br"),
      endedWords(batch.ended),
      h("br"),
      `${batch.worker}, ${fullTime(batch.created_at)}`,
    ],
  });
  const model = chart({
    title: "Model",
    fromZero: true,
    marks: [],
    tip: ({ batch }) => [
      h("b", `Batch ${batch.number}`),
      h("br"),
      `${plural(batch.dictionary, "reference point")}`,
      h("br"),
      `effective dimension ${number(batch.effective_dimension, 3)}`,
    ],
  });

  function update(now) {
    facts = now;
    const { summary, trace } = facts;
    fill(headline, summary.best_observed ? sentence(summary) : h("p", summary.headline));
    fill(stats, statistics(summary));
    fill(benches, openBatches(summary));
    const points = trace.progress.map((point, i) => ({ x: point.observation, y: point.value, point, i }));
    values.update({
      marks: [
        { kind: "dots", points, hover: true },
        {
          kind: "dots",
          tone: "accent",
          hover: false,
          points: points.filter(({ point }, i) => i === 0 || point.best !== points[i - 1].point.best),
        },
        {
          kind: "step",
          tone: "accent",
          label: "best so far",
          hover: false,
          points: points.map(({ x, point }) => ({ x, y: point.best, point })),
        },
      ],
      empty: "The first result will appear here.",
      across: "result",
    });
    const bounds = trace.batches
      .filter((batch) => batch.regret_bound !== null)
      .map((batch) => ({ x: batch.number, y: batch.regret_bound, batch }));
    const latest = summary.certificate
      ? [{ x: (trace.batches.at(-1)?.number ?? 0) + 1, y: summary.certificate.regret_bound }]
      : [];
    bound.update({
      marks: [
        { kind: "band", hover: false, points: [...bounds, ...latest].map((point) => ({ ...point, low: 0 })) },
        { kind: "line", tone: "accent", points: [...bounds, ...latest] },
        { kind: "dots", tone: "accent", hover: false, points: latest, radius: 4 },
      ],
      empty: "Appears with the first result.",
      across: "batch",
    });
    const issued = trace.batches.map((batch) => ({ x: batch.number, batch }));
    sizes.update({
      marks: [
        {
          kind: "bars",
          points: issued.map((point) => ({
            ...point,
            y: point.batch.size,
            tone: point.batch.ended === "rule" ? "strong" : "",
          })),
        },
      ],
      empty: "No batch yet.",
      across: "batch",
    });
    model.update({
      marks: [
        {
          kind: "line",
          tone: "accent",
          label: "dimension",
          points: issued.map((point) => ({ ...point, y: point.batch.effective_dimension })),
        },
        {
          kind: "line",
          tone: "soft",
          label: "ref. points",
          points: issued.map((point) => ({ ...point, y: point.batch.dictionary })),
        },
      ],
      empty: "No batch yet.",
      across: "batch",
    });
  }

  const nothing = !first.summary.counts.candidates;
  fill(
    root,
    nothing
      ? empty(
          "file",
          "No candidates yet",
          may("manage")
            ? "Upload the list of candidates, then ask for the first batch."
            : "The owner of the study has not uploaded the list of candidates yet.",
        )
      : [
          headline,
          stats,
          h(
            ".charts",
            h(
              "section.card.wide",
              h(
                "header",
                h("h2", "All results and the best so far"),
                h(
                  "span.quiet.small",
                  facts.summary.direction === "minimize" ? "smaller is better" : "larger is better",
                ),
              ),
              values.element,
            ),
            h(
              "section.card",
              h("header", h("h2", "How much better another candidate could be"), h("span.quiet.small", "at most")),
              bound.element,
            ),
            h(
              "section.card",
              h(
                "header",
                h("h2", "Batch sizes"),
                h("span.legend", h("span.quiet.small", "dark: the next choice needs these results")),
              ),
              sizes.element,
            ),
            benches,
            h(
              "details.card.wide.secondary",
              h("summary", "About the model"),
              h("p.quiet.small", MODEL_WORDS),
              model.element,
            ),
          ),
        ],
  );
  update(first);
  return { update };
}

const ADVICE = { ask: "Go on.", "wait for results": "Wait for results.", stop: "You can stop." };

function sentence(summary) {
  const { best_observed: best, certificate: sure, outlook } = summary;
  const [before, after] = split(summary.headline, best.key);
  return [
    h("p.best", before, h("b", best.key), after),
    outlook && h("p", h("b", ADVICE[outlook.advice.do]), ` ${outlook.advice.why}`),
    sure &&
      h(
        "details.small.quiet",
        h("summary", "Assumptions"),
        h(
          "ul",
          sure.assumptions.map((assumption) => h("li", assumption)),
        ),
      ),
    summary.finished &&
      h("p.note.good", `The study is finished: ${finishedWords(summary.finished)}. You can still report results.`),
  ];
}

// The sentence around the best candidate's key.
function split(text, key) {
  const at = text.indexOf(key);
  return [text.slice(0, at), text.slice(at + key.length)];
}

function statistics(summary) {
  const { counts, best_predicted: predicted, certificate: sure, outlook, unit } = summary;
  const difference = (value) => withUnit(number(value, 3), unit === "%" ? "percentage points" : unit);
  const stat = (label, value, detail) =>
    h(".stat", h("span.quiet.small", label), h("strong.number", value), h("span.quiet.small.clip", detail ?? ""));
  return [
    outlook &&
      stat(
        "Left to gain",
        difference(outlook.remaining_gain.expected),
        `at most ${number(outlook.remaining_gain.upper, 3)} with 95 % probability`,
      ),
    outlook &&
      stat(
        "Best is already measured",
        `${Math.round(outlook.chance_best_is_measured * 100)} %`,
        `${count(outlook.candidates_still_possible)} candidates can still be the best`,
      ),
    sure &&
      !outlook &&
      stat(
        "Possible improvement",
        `≤ ${difference(sure.regret_bound)}`,
        `${Math.round(sure.confidence * 100)} % confidence`,
      ),
    predicted && stat("Predicted best", measured(predicted.mean, predicted.std, unit), h("span.key", predicted.key)),
    stat(
      "Candidates measured",
      `${count(counts.measured)}`,
      `of ${count(counts.candidates)}${counts.available < counts.candidates ? `, ${count(counts.candidates - counts.available)} unavailable` : ""}`,
    ),
    stat("Results", count(counts.observations), plural(counts.batches, "batch", "batches")),
    stat("Pending", count(counts.pending), plural(summary.open_batches.length, "open batch", "open batches")),
  ];
}

function openBatches(summary) {
  const head = h("header", h("h2", "In progress"));
  if (!summary.open_batches.length) return [head, h("p.quiet", "Nothing is being measured.")];
  return [
    head,
    h(
      "ul.benches",
      summary.open_batches.map((batch) => {
        const done = batch.size - batch.pending;
        const bar = h("span");
        bar.style.width = `${(100 * done) / batch.size}%`;
        return h(
          "li",
          h("a", { href: benchPath(summary.name, batch.worker) }, batch.worker),
          h("span.quiet.small", `batch ${batch.number}, ${ago(batch.created_at)}`),
          batch.overdue && h("span.chip.warn", "overdue"),
          h(".track", bar),
          h("span.number.small", `${done} of ${batch.size}`),
        );
      }),
    ),
  ];
}
