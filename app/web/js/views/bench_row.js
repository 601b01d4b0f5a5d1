// One candidate on the bench: its key, its settings, and a field for each measurement.

import { change, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { cell, exact, measured, parse, shortTime, whatToWrite, withUnit } from "../format.js";
import * as outbox from "../outbox.js";
import { ask, toast } from "../parts.js";
import { may, me } from "../session.js";
import { stateWords } from "./words.js";

export function benchRow(context) {
  const element = h("li.bench-row");
  let suggestion = null,
    facts = null,
    drawn = "";
  const row = {
    element,
    get key() {
      return suggestion.key;
    },
    wants: () => Boolean(element.querySelector("input:not(:disabled)")),
    focus() {
      const target = element.querySelector("input:not(:disabled)") ?? element.querySelector("button");
      element.scrollIntoView({ block: "center" });
      target?.focus();
      target?.select?.();
      element.classList.add("found");
      setTimeout(() => element.classList.remove("found"), 1200);
    },
    // Go to where work begins. On a touch screen only scroll there: its keyboard would cover half of the screen.
    greet() {
      if (document.activeElement !== document.body && document.activeElement?.id !== "content") return;
      if (matchMedia("(hover: hover)").matches) row.focus();
      else if (element.previousElementSibling) element.scrollIntoView({ block: "center" });
    },
    update(fresh, now, waiting) {
      [suggestion, facts] = [fresh, now];
      const mine = waiting.filter((item) => item.place.startsWith(`${suggestion.suggestion}/`));
      const state = JSON.stringify([
        suggestion.state,
        mine,
        [...now.results].filter(([place]) => place.startsWith(`${suggestion.suggestion}/`)),
      ]);
      if (state === drawn) return; // do not disturb what is being typed
      const typed = new Map([...element.querySelectorAll("input")].map((input) => [input.name, input.value]));
      const focused = element.contains(document.activeElement) ? document.activeElement.name : null;
      drawn = state;
      fill(element, front(), h(".slots", slots(mine)));
      for (const input of element.querySelectorAll("input"))
        if (typed.get(input.name) && !input.disabled) input.value = typed.get(input.name);
      if (focused) element.querySelector(`input[name="${focused}"]:not(:disabled)`)?.focus();
    },
  };

  function front() {
    const facts_ = [...Object.entries(suggestion.attributes), ...Object.entries(suggestion.features)];
    element.dataset.state = suggestion.state;
    return h(
      ".what",
      h(
        ".row",
        h("strong.key", suggestion.key),
        suggestion.replicates > 1 && h("span.chip", `${suggestion.replicates} measurements`),
        suggestion.state !== "pending" &&
          h("span.chip", { class: suggestion.state === "observed" ? "accent" : "warn" }, stateWords(suggestion.state)),
      ),
      h(
        "dl.conditions",
        facts_.slice(0, 24).map(([name, value]) => h("div", h("dt", name), h("dd.number", cell(value)))),
      ),
      suggestion.why.mean !== null &&
        h(
          "p.quiet.small.no-print",
          `${suggestion.why.words} Expected ${measured(suggestion.why.mean, suggestion.why.std, facts.summary.unit)}.`,
        ),
    );
  }

  function slots(mine) {
    const lost = mine.find((item) => item.place.endsWith("/lost"));
    if (lost) return unsaved(lost);
    if (suggestion.state === "failed" || suggestion.state === "abandoned")
      return h(
        "p.quiet",
        suggestion.state === "failed" ? "Marked as failed." : "Abandoned.",
        may("report") && " You can still report a value:",
        may("report") && slot(1, mine),
      );
    return [Array.from({ length: suggestion.replicates }, (_, i) => slot(i + 1, mine)), menu(mine)];
  }

  function slot(replicate, mine) {
    const place = `${suggestion.suggestion}/${replicate}`;
    const kept = mine.find((item) => item.place === place);
    if (kept) return unsaved(kept);
    const result = facts.results.get(place);
    if (result) return saved(result);
    return may("report") ? entry(place, replicate) : h("span.quiet", "pending");
  }

  function entry(place, replicate) {
    const label = `${facts.summary.objective} of ${suggestion.key}${suggestion.replicates > 1 ? `, measurement ${replicate}` : ""}`;
    const complaint = h("span.small.bad-text", { role: "alert" });
    const input = h("input", {
      name: place,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      enterkeyhint: "done",
      "aria-label": label,
      placeholder: suggestion.replicates > 1 ? `#${replicate}` : "value",
      onkeydown: (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          save();
        }
      },
    });
    const save = () => {
      const text = input.value.trim();
      if (!text) return;
      const value = parse(text);
      if (value === null && context.scanned(text)) {
        input.value = ""; // a scanner types into whatever has the focus
        return;
      }
      input.classList.toggle("invalid", value === null);
      if (value === null) return void fill(complaint, whatToWrite(text));
      input.disabled = true;
      outbox.put(context.name, place, { suggestion: suggestion.suggestion, value, replicate }, exact(value));
      context.next(row);
    };
    return h(
      ".slot",
      h(
        ".entry",
        input,
        facts.summary.unit && h("span.quiet.unit", facts.summary.unit),
        h("button.small.no-print", { onclick: save, "aria-label": `Save ${label}` }, "Save"),
      ),
      complaint,
    );
  }

  // The server found the value implausible: most often a slip of the decimal sign.
  function doubted(item) {
    const { mean, std } = suggestion.why;
    const { unit } = facts.summary;
    const expected = mean === null ? item.question : `Expected ${measured(mean, std, unit)}.`;
    const label = `${withUnit(item.words, unit)} of ${suggestion.key}`;
    return h(
      ".slot.waiting",
      h("p.doubt", { role: "alert" }, `${expected} Save ${withUnit(item.words, unit)} anyway?`),
      h(
        "button",
        { onclick: () => outbox.confirm(context.name, item.place), "aria-label": `Save ${label} anyway` },
        "Save anyway",
      ),
      h(
        "button.plain",
        { onclick: () => outbox.discard(context.name, item.place), "aria-label": `Discard ${label}` },
        "Discard",
      ),
    );
  }

  function unsaved(item) {
    if (item.question) return doubted(item);
    const drop = h(
      "button.plain.small",
      { onclick: () => outbox.discard(context.name, item.place) },
      item.refused ? "Discard" : "Undo",
    );
    return h(
      ".slot.waiting",
      h("b.number", item.words),
      h("span.chip", { class: item.refused ? "bad" : "warn" }, stateOf(item)),
      item.refused && h("span.small", item.refused),
      drop,
    );
  }

  function saved(result) {
    const own = may("correct") || (may("report") && result.actor === me()?.id);
    return h(
      ".slot.saved",
      h("b.number", exact(result.value)),
      facts.summary.unit && h("span.quiet", facts.summary.unit),
      h("span.quiet.small", `${result.version > 1 ? "corrected" : "saved"} ${shortTime(result.recorded_at)}`),
      own &&
        h(
          "button.plain.small.no-print",
          { onclick: () => correct(result), "aria-label": `Correct the value of ${suggestion.key}` },
          "Correct",
        ),
    );
  }

  function correct(result) {
    const match = { "If-Match": `"${result.version}"` };
    const at = path(context.name, `/observations/${result.observation}`);
    ask({
      title: `Correct ${suggestion.key}`,
      text: "The old value stays in the history, with your reason.",
      confirm: "Correct",
      fields: [
        {
          name: "value",
          label: "New value",
          inputmode: "decimal",
          value: String(result.value),
          hint: "Leave empty to withdraw the result.",
        },
        { name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "read the wrong line" },
      ],
      act: async ({ value: text, reason }) => {
        const value = text.trim() ? parse(text) : undefined;
        if (value === null) throw new Error(whatToWrite(text));
        const answer = await change(
          "POST",
          `${at}/${value === undefined ? "retraction" : "corrections"}`,
          value === undefined ? { reason } : { value, reason },
          match,
        );
        await context.changed();
        toast(`${value === undefined ? "Withdrawn." : "Corrected."}${affectedWords(answer.affected_batches)}`);
      },
    });
  }

  function menu(mine) {
    if (!may("report") || suggestion.state !== "pending" || mine.length) return null;
    return h(
      ".row.no-print.lost",
      h("button.plain.small", { onclick: fail, "aria-label": `${suggestion.key} failed` }, "Failed"),
      h("button.plain.small", { onclick: abandon, "aria-label": `Abandon ${suggestion.key}` }, "Abandon"),
    );
  }

  function fail() {
    ask({
      title: `${suggestion.key} failed`,
      confirm: "Mark as failed",
      fields: [
        { name: "reason", label: "What happened", required: true, maxlength: 500, placeholder: "vial broke" },
        {
          name: "retry",
          label: "Worth trying again?",
          options: [
            ["yes", "Yes, it may be suggested again"],
            ["no", "No, mark the candidate as unavailable"],
          ],
          value: "yes",
        },
      ],
      act: ({ reason, retry }) => lose({ failed: { reason, retry: retry === "yes" } }, `failed: ${reason}`),
    });
  }

  function abandon() {
    ask({
      title: `Abandon ${suggestion.key}`,
      text: "The batch no longer waits for it. You can still report a result later.",
      confirm: "Abandon",
      fields: [{ name: "reason", label: "Reason", required: true, maxlength: 500 }],
      act: ({ reason }) => lose({ abandoned: { reason } }, `abandoned: ${reason}`),
    });
  }

  function stateOf(item) {
    if (item.refused) return "refused";
    const typedByAnother = item.key && item.key !== me()?.id; // a value is sent under the key it was typed with
    return typedByAnother ? "typed with another key" : "not yet saved";
  }

  const lose = (report, words) =>
    outbox.put(context.name, `${suggestion.suggestion}/lost`, { suggestion: suggestion.suggestion, ...report }, words);

  return row;
}

function affectedWords(batches) {
  if (!batches.length) return "";
  const [which, they] = batches.length === 1 ? ["Batch", "it stays"] : ["Batches", "they stay"];
  return ` ${which} ${batches.join(", ")} used the old value; ${they} as issued.`;
}
