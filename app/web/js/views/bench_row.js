// One candidate on the bench: its key, what to set, and a field for each measurement.

import { change, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { cell, exact, measured, parse, shortTime } from "../format.js";
import * as outbox from "../outbox.js";
import { ask, toast } from "../parts.js";
import { may, me } from "../session.js";

export function benchRow(context) {
  const element = h("li.bench-row");
  let one = null, facts = null, drawn = "";
  const row = {
    element,
    get key() { return one.key; },
    wants: () => Boolean(element.querySelector("input:not(:disabled)")),
    focus() {
      const target = element.querySelector("input:not(:disabled)") ?? element.querySelector("button");
      element.scrollIntoView({ block: "center" });
      target?.focus();
      target?.select?.();
      element.classList.add("found");
      setTimeout(() => element.classList.remove("found"), 1200);
    },
    // Where work begins. A touch screen is only scrolled there: its keyboard would cover half of it.
    greet() {
      if (document.activeElement !== document.body && document.activeElement?.id !== "content") return;
      if (matchMedia("(hover: hover)").matches) row.focus();
      else if (element.previousElementSibling) element.scrollIntoView({ block: "center" });
    },
    update(suggestion, now, waiting) {
      [one, facts] = [suggestion, now];
      const mine = waiting.filter((item) => item.place.startsWith(`${one.suggestion}/`));
      const state = JSON.stringify([one.state, mine, [...now.results].filter(([place]) => place.startsWith(`${one.suggestion}/`))]);
      if (state === drawn) return; // what is being typed is left alone
      const typed = new Map([...element.querySelectorAll("input")].map((input) => [input.name, input.value]));
      const focused = element.contains(document.activeElement) ? document.activeElement.name : null;
      drawn = state;
      fill(element, front(), h(".slots", slots(mine)));
      for (const input of element.querySelectorAll("input")) if (typed.get(input.name) && !input.disabled) input.value = typed.get(input.name);
      if (focused) element.querySelector(`input[name="${focused}"]:not(:disabled)`)?.focus();
    },
  };

  function front() {
    const facts_ = [...Object.entries(one.attributes), ...Object.entries(one.features)];
    element.dataset.state = one.state;
    return h(".what", h(".row", h("strong.key", one.key), one.replicates > 1 && h("span.chip", `${one.replicates} measurements`), one.state !== "pending" && h("span.chip", { class: one.state === "observed" ? "accent" : "warn" }, one.state)),
      h("dl.conditions", facts_.slice(0, 24).map(([name, value]) => h("div", h("dt", name), h("dd.number", cell(value))))),
      one.why.mean !== null && h("p.quiet.small.no-print", `${one.why.words} Expected ${measured(one.why.mean, one.why.std, facts.summary.unit)}.`));
  }

  function slots(mine) {
    const lost = mine.find((item) => item.place.endsWith("/lost"));
    if (lost) return unsaved(lost);
    if (one.state === "failed" || one.state === "abandoned") return h("p.quiet", one.state === "failed" ? "Marked as failed." : "Given up.", may("report") && " A value that comes all the same is welcome:", may("report") && slot(1, mine));
    return [Array.from({ length: one.replicates }, (_, i) => slot(i + 1, mine)), menu(mine)];
  }

  function slot(replicate, mine) {
    const place = `${one.suggestion}/${replicate}`;
    const kept = mine.find((item) => item.place === place);
    if (kept) return unsaved(kept);
    const result = facts.results.get(place);
    if (result) return saved(result);
    return may("report") ? entry(place, replicate) : h("span.quiet", "waiting");
  }

  function entry(place, replicate) {
    const label = `${facts.summary.objective} of ${one.key}${one.replicates > 1 ? `, measurement ${replicate}` : ""}`;
    const complaint = h("span.small.bad-text", { role: "alert" });
    const input = h("input", { name: place, type: "text", inputmode: "decimal", autocomplete: "off", enterkeyhint: "done", "aria-label": label, placeholder: one.replicates > 1 ? `#${replicate}` : "value", onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); save(); } } });
    const save = () => {
      const text = input.value.trim();
      if (!text) return;
      const value = parse(text);
      if (value === null && context.scanned(text)) { input.value = ""; return; } // a scanner types into whatever has the focus
      input.classList.toggle("invalid", value === null);
      if (value === null) return void fill(complaint, "Not a number.");
      input.disabled = true;
      const next = row;
      outbox.put(context.name, place, { suggestion: one.suggestion, value, replicate }, exact(value));
      context.next(next);
    };
    return h(".slot", h(".entry", input, facts.summary.unit && h("span.quiet.unit", facts.summary.unit), h("button.small.no-print", { onclick: save, "aria-label": `Save ${label}` }, "Save")), complaint);
  }

  function unsaved(item) {
    const drop = h("button.plain.small", { onclick: () => outbox.discard(context.name, item.place) }, item.refused ? "Discard" : "Undo");
    return h(".slot.waiting", h("b.number", item.words), h("span.chip", { class: item.refused ? "bad" : "warn" }, item.refused ? "refused" : foreign(item) ? "kept for another key" : "not yet saved"), item.refused && h("span.small", item.refused), drop);
  }

  function saved(result) {
    const own = may("correct") || (may("report") && result.actor === me()?.id);
    return h(".slot.saved", h("b.number", exact(result.value)), facts.summary.unit && h("span.quiet", facts.summary.unit), h("span.quiet.small", `${result.version > 1 ? "corrected" : "saved"} ${shortTime(result.recorded_at)}`),
      own && h("button.plain.small.no-print", { onclick: () => correct(result), "aria-label": `Correct the value of ${one.key}` }, "Correct"));
  }

  function correct(result) {
    const match = { "If-Match": `"${result.version}"` };
    const at = path(context.name, `/observations/${result.observation}`);
    ask({
      title: `Correct ${one.key}`, text: "The old value is kept, with your reason.", confirm: "Correct",
      fields: [
        { name: "value", label: "Right value", inputmode: "decimal", value: String(result.value), hint: "Clear it to take the value back altogether." },
        { name: "reason", label: "Why", required: true, maxlength: 500, placeholder: "typed the wrong line" },
      ],
      act: async ({ value: text, reason }) => {
        const value = text.trim() ? parse(text) : undefined;
        if (value === null) throw new Error("The value is not a number.");
        const answer = await change("POST", `${at}/${value === undefined ? "retraction" : "corrections"}`, value === undefined ? { reason } : { value, reason }, match);
        await context.changed();
        toast(answer.affected_batches.length ? `Corrected. Batches ${answer.affected_batches.join(", ")} had used the old value; they stand.` : "Corrected.");
      },
    });
  }

  function menu(mine) {
    if (!may("report") || one.state !== "pending" || mine.length) return null;
    return h(".row.no-print.lost", h("button.plain.small", { onclick: fail, "aria-label": `${one.key} failed` }, "Failed"), h("button.plain.small", { onclick: abandon, "aria-label": `Give ${one.key} up` }, "Give up"));
  }

  function fail() {
    ask({ title: `${one.key} failed`, confirm: "Mark as failed", fields: [
      { name: "reason", label: "What happened", required: true, maxlength: 500, placeholder: "vial broke" },
      { name: "retry", label: "Worth trying again?", options: [["yes", "Yes, it may be suggested again"], ["no", "No, switch the candidate off"]], value: "yes" },
    ], act: ({ reason, retry }) => lose({ failed: { reason, retry: retry === "yes" } }, `failed: ${reason}`) });
  }

  function abandon() {
    ask({ title: `Give ${one.key} up`, text: "It is not waited for any more. A result that comes all the same is welcome.", confirm: "Give up", fields: [{ name: "reason", label: "Why", required: true, maxlength: 500 }],
      act: ({ reason }) => lose({ abandoned: { reason } }, `given up: ${reason}`) });
  }

  const foreign = (item) => item.key && item.key !== me()?.id; // who typed it is who sends it

  const lose = (report, words) => outbox.put(context.name, `${one.suggestion}/lost`, { suggestion: one.suggestion, ...report }, words);

  return row;
}

