// The bench: one worker's batch, made for a tablet and gloves. Values are stored here before they are sent.

import { get, study as path } from "../api.js";
import { showStatus } from "../bar.js";
import { delayed, fill, h, settled } from "../dom.js";
import { ago, plural } from "../format.js";
import { icon } from "../icons.js";
import { follow } from "../live.js";
import * as outbox from "../outbox.js";
import { empty, explain, toast } from "../parts.js";
import { benchPath, go, studyPath } from "../router.js";
import { may } from "../session.js";
import { askForBatch, nextBatch, rememberWorker } from "./asking.js";
import { readBench } from "./bench_batch.js";
import { benchRow } from "./bench_row.js";
import { scanner } from "./bench_scan.js";
import { sheetTools } from "./bench_sheet.js";
import { finishedWords } from "./words.js";

export function bench(root, params, wanted) {
  return params.worker ? oneBench(root, params, wanted) : allBenches(root, params, wanted);
}

async function allBenches(root, { study: name }, wanted) {
  const summary = await get(path(name, "/summary"));
  if (!wanted()) return null;
  const asks =
    may("ask") &&
    summary.state === "active" &&
    h(
      "button.primary",
      { onclick: () => askForBatch(name, (batch) => go(benchPath(name, batch.worker))) },
      "Ask for a batch",
    );
  fill(
    root,
    h(
      ".page.narrow",
      h(".head", h("h1", "Which bench?")),
      summary.open_batches.length
        ? [
            h(
              "ul.bench-list",
              summary.open_batches.map((batch) =>
                h(
                  "li",
                  h(
                    "a.card",
                    { href: benchPath(name, batch.worker) },
                    h("b", batch.worker),
                    h("span.quiet", `${batch.pending} of ${batch.size} to measure`),
                    h("span.quiet.small", `batch ${batch.number}, ${ago(batch.created_at)}`),
                    batch.overdue && h("span.chip.warn", "overdue"),
                  ),
                ),
              ),
            ),
            h(".row.end", asks),
          ]
        : empty(
            "flask",
            "No open batches",
            may("ask")
              ? "Ask for a batch to see what to measure next."
              : "Batches appear here when somebody asks for one.",
            asks || null,
          ),
    ),
  );
  return {};
}

async function oneBench(root, { study: name, worker }, wanted) {
  rememberWorker(worker);
  let facts = await readBench(name, worker);
  if (!wanted()) return null;
  const rows = new Map();
  const list = h("ol.bench-rows"),
    head = h(".bench-head"),
    note = h(".unsaved", { role: "status" }),
    foot = h("footer.bench-foot");
  const scan = scanner((key) => focusKey(key));
  const tellHead = settled(head),
    tellNote = settled(note),
    tellFoot = settled(foot);
  fill(root, h(".page.narrow.bench", head, scan.element, note, list, foot));

  function focusKey(key) {
    const matching = [...rows.values()].filter((row) => row.key.toLowerCase() === key.toLowerCase());
    const first = matching.find((row) => row.wants()) ?? matching[0];
    first?.focus();
    return Boolean(first);
  }

  const context = { name, worker, scanned: focusKey, next: (after) => nextOf(after)?.focus(), changed: () => look() };

  function nextOf(after) {
    const all = [...rows.values()];
    const place = all.indexOf(after);
    return [...all.slice(place + 1), ...all.slice(0, place)].find((row) => row.wants());
  }

  function draw() {
    const { batch, summary } = facts;
    const waiting = outbox.waiting(name);
    if (!batch) {
      tellHead(null, () => heading(null));
      scan.element.hidden = true;
      fill(list);
      tellFoot([summary.state, summary.finished, summary.counts.candidates], bareBench);
      return;
    }
    scan.element.hidden = batch.state !== "open";
    tellHead([batch.number, batch.suggestions.map((suggestion) => suggestion.state)], () => heading(batch));
    for (const suggestion of batch.suggestions) {
      const id = suggestion.suggestion;
      if (!rows.has(id)) rows.set(id, benchRow(context));
      rows.get(id).update(suggestion, facts, waiting);
    }
    const ids = new Set(batch.suggestions.map((suggestion) => suggestion.suggestion));
    for (const id of rows.keys()) if (!ids.has(id)) rows.delete(id);
    const elements = [...rows.values()].map((row) => row.element);
    if (elements.some((element, i) => list.children[i] !== element) || list.children.length !== elements.length)
      fill(list, elements);
    const doubted = waiting.filter((item) => item.question).length;
    const unsaved = waiting.filter((item) => !item.refused && !item.question).length;
    tellNote([unsaved, doubted], () => [
      unsaved > 0 &&
        h(
          "p.note.warn",
          h("b", `${plural(unsaved, "value")} not yet saved.`),
          " This device keeps what you typed and sends it as soon as the server can be reached.",
        ),
      doubted > 0 &&
        h(
          "p.note.warn",
          h("b", `${plural(doubted, "value")} not saved: far from what was expected.`),
          " Answer the question in the row.",
        ),
    ]);
    tellFoot(
      [batch.number, batch.state, summary.state, summary.finished],
      () =>
        batch.state !== "open" &&
        h(
          "section.done",
          icon("check", 40),
          h("h2", `Batch ${batch.number} is complete`),
          h("p.quiet", "Thank you. You can still correct values above."),
          nextButton(summary),
        ),
    );
  }

  function heading(batch) {
    if (!batch) return [h("h1", worker)];
    const done = batch.suggestions.filter((suggestion) => suggestion.state !== "pending").length;
    return [
      h(
        ".titles",
        h("h1", worker),
        h("p.quiet", `${name} · batch ${batch.number} · ${done} of ${batch.suggestions.length} done`),
      ),
      h(
        ".row.actions.no-print",
        may("report") && sheetTools(name, batch, look),
        h("button", { onclick: () => print() }, icon("print"), "Print"),
      ),
    ];
  }

  function nextButton(summary) {
    if (summary.finished) return h("p.note.good", `The study is finished: ${finishedWords(summary.finished)}.`);
    if (summary.state !== "active") return h("p.note", `The study is ${summary.state}.`);
    if (!may("ask")) return h("p.quiet", "The next batch appears here when somebody asks for it.");
    const button = h(
      "button.primary.large",
      {
        onclick: async () => {
          button.disabled = true;
          button.textContent = "Choosing the next batch …";
          try {
            await nextBatch(name, worker);
            await look();
            scrollTo({ top: 0 });
          } catch (error) {
            toast(explain(error), "bad");
            button.disabled = false;
            button.textContent = "Ask for the next batch";
          }
        },
      },
      "Ask for the next batch",
    );
    return button;
  }

  const bareBench = () =>
    empty(
      "flask",
      "Nothing to measure",
      facts.summary.counts.candidates ? "This bench has no open batch." : "The study has no candidates yet.",
      nextButton(facts.summary),
      h("a.button", { href: studyPath(name) }, "Go to the study"),
    );

  async function look() {
    facts = await readBench(name, worker);
    draw();
  }

  // readBench falls back to the stored copy, so it cannot tell whether the server answers.
  async function reach() {
    await get(path(name, "/summary"));
    await look();
  }

  draw();
  [...rows.values()].find((row) => row.wants())?.greet();
  const soon = delayed(() => look().catch(() => {}), 100);
  const stops = [
    outbox.listen((news) => (news.saved ? soon() : draw())),
    follow(name, { seq: facts.summary.seq, look: reach, onStatus: showStatus, onChange: soon }),
    scan.start(),
  ];
  return {
    leave: () => {
      for (const stop of stops) stop();
    },
  };
}
