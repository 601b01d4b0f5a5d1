// What is measured and what is wanted. Everything has a default that works; the rest is folded away.

import { h } from "../dom.js";
import { choices, field } from "../parts.js";

export function settingsForm() {
  let direction = "maximize";
  const name = field({ name: "name", label: "Name", required: true, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}", hint: "Letters, digits, dots and dashes; it is part of the address.", placeholder: "suzuki-2026" });
  const input = name.querySelector("input");
  let typed = false;
  input.addEventListener("input", () => { typed = true; });
  const number = (key, label, more = {}) => field({ name: key, label, kind: "number", ...more });
  const element = h("section.card.step", h("header", h("h2", "What is measured")),
    h(".fields", name,
      field({ name: "objective", label: "Measured", placeholder: "yield", hint: "What one result is called." }),
      field({ name: "unit", label: "Unit", placeholder: "%" }),
      h(".field", "Wanted", h("div", choices("Wanted", [["maximize", "Large values"], ["minimize", "Small values"]], direction, (chosen) => { direction = chosen; }))),
      field({ name: "description", label: "Description", placeholder: "For the people who will look at it", class: "wide" })),
    h("details.advanced", h("summary", "More settings"),
      h(".fields",
        field({ name: "goal", label: "Goal", options: [["best", "Find the best one"], ["production", "Gain while measuring"], ["explore", "Learn widely"]], value: "best" }),
        number("max_batch", "Most in a batch", { min: 1, placeholder: "100", hint: "The algorithm chooses; this is its limit." }),
        number("min_batch", "Fewest in a batch", { min: 1, placeholder: "1" }),
        number("first_batch", "Size of the first batch", { min: 1, placeholder: "chosen" }),
        field({ name: "repeats", label: "Measuring one candidate again", options: [["auto", "When it is worth it"], ["allowed", "Always allowed"], ["never", "Never"]], value: "auto" }),
        field({ name: "noise", label: "Results of one candidate", options: [["auto", "May differ"], ["none", "Are always equal"]], value: "auto" }),
        number("overdue_hours", "Overdue after (hours)", { min: 0, step: "any", placeholder: "never" }),
        number("stop_regret", "Stop when nothing can be better by more than", { min: 0, step: "any" }),
        number("stop_observations", "Stop after so many results", { min: 1 }),
        number("seed", "Seed", { min: 0, placeholder: "0", hint: "The same seed and results give the same batches." }))));
  return {
    element,
    suggestName(file) {
      if (!typed) input.value = file.replace(/\.[^.]*$/, "").normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "").slice(0, 100);
    },
    read() {
      const said = Object.fromEntries([...element.querySelectorAll("input[name], select[name]")].filter((one) => one.type !== "radio").map((one) => [one.name, one.value.trim()]));
      return { name: said.name, settings: { direction, ...texts(said), ...numbers(said), stop: { regret_bound: orNull(said.stop_regret), observations: orNull(said.stop_observations) } } };
    },
  };
}

const orNull = (text) => (text ? Number(text) : null);
const given = (said, names, make) => Object.fromEntries(names.filter((name) => said[name]).map((name) => [name, make(said[name])]));
const texts = (said) => given(said, ["objective", "unit", "description", "goal", "repeats", "noise"], String);
const numbers = (said) => given(said, ["max_batch", "min_batch", "first_batch", "overdue_hours", "seed"], Number);
