// What is measured and what counts as better. Everything has a default that works; the rest is folded away.

import { h } from "../dom.js";
import { choices, field } from "../parts.js";

export function settingsForm() {
  let direction = "maximize";
  const name = field({
    name: "name",
    label: "Name",
    required: true,
    pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}",
    hint: "Letters, digits, dots and dashes; it is part of the address.",
    placeholder: "suzuki-2026",
  });
  const input = name.querySelector("input");
  let typed = false;
  input.addEventListener("input", () => {
    typed = true;
  });
  const number = (key, label, more = {}) => field({ name: key, label, kind: "number", ...more });
  const element = h(
    "section.card.step",
    h("header", h("h2", "What is measured")),
    h(
      ".fields",
      name,
      field({ name: "objective", label: "Measured quantity", placeholder: "yield" }),
      field({ name: "unit", label: "Unit", placeholder: "%" }),
      h(
        ".field",
        "Which values are better?",
        h(
          "div",
          choices(
            "Which values are better?",
            [
              ["maximize", "Larger"],
              ["minimize", "Smaller"],
            ],
            direction,
            (chosen) => {
              direction = chosen;
            },
          ),
        ),
      ),
      field({
        name: "description",
        label: "Description",
        placeholder: "What the study is about",
        class: "wide",
      }),
    ),
    h(
      "details.advanced",
      h("summary", "More settings"),
      h(
        ".fields",
        field({
          name: "goal",
          label: "Goal",
          options: [
            ["best", "Find the best candidate"],
            ["production", "Get good results while measuring"],
            ["explore", "Learn about all candidates"],
          ],
          value: "best",
        }),
        number("max_batch", "Largest batch", {
          min: 1,
          placeholder: "100",
          hint: "The server chooses the size up to this limit.",
        }),
        number("min_batch", "Smallest batch", { min: 1, placeholder: "1" }),
        number("first_batch", "First batch", { min: 1, placeholder: "automatic" }),
        field({
          name: "repeats",
          label: "Repeat measurements",
          options: [
            ["auto", "When worthwhile"],
            ["allowed", "Always allowed"],
            ["never", "Never"],
          ],
          value: "auto",
        }),
        field({
          name: "noise",
          label: "Measurement noise",
          options: [
            ["auto", "Estimated from the results"],
            ["none", "None: repeats give the same value"],
          ],
          value: "auto",
        }),
        number("overdue_hours", "Overdue after (hours)", { min: 0, step: "any", placeholder: "never" }),
        number("stop_regret", "Stop when no candidate can be better by more than", { min: 0, step: "any" }),
        number("stop_observations", "Stop after this many results", { min: 1 }),
        number("seed", "Random seed", {
          min: 0,
          placeholder: "0",
          hint: "With the same seed and results you get the same batches.",
        }),
      ),
    ),
  );
  return {
    element,
    suggestName(file) {
      if (!typed)
        input.value = file
          .replace(/\.[^.]*$/, "")
          .normalize("NFKD")
          .replace(/[^A-Za-z0-9._-]+/g, "-")
          .replace(/^[^A-Za-z0-9]+/, "")
          .slice(0, 100);
    },
    read() {
      const values = Object.fromEntries(
        [...element.querySelectorAll("input[name], select[name]")]
          .filter((control) => control.type !== "radio")
          .map((control) => [control.name, control.value.trim()]),
      );
      return {
        name: values.name,
        settings: {
          direction,
          ...texts(values),
          ...numbers(values),
          stop: { regret_bound: orNull(values.stop_regret), observations: orNull(values.stop_observations) },
        },
      };
    },
  };
}

const orNull = (text) => (text ? Number(text) : null);
const given = (values, names, make) =>
  Object.fromEntries(names.filter((name) => values[name]).map((name) => [name, make(values[name])]));
const texts = (values) => given(values, ["objective", "unit", "description", "goal", "repeats", "noise"], String);
const numbers = (values) => given(values, ["max_batch", "min_batch", "first_batch", "overdue_hours", "seed"], Number);
