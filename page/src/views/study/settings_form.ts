// The settings that can change while a study runs, as fields and back.

import { differenceUnit, withUnit } from "../../core/format.ts";
import type { Column, Settings } from "../../core/types.ts";
import type { FieldProps } from "../../parts/field.tsx";
import { quantitiesFrom, quantityFields } from "./quantity_form.ts";

export const GOALS: Record<string, string> = {
  best: "find the best candidate",
  production: "get good results while measuring",
  explore: "learn about all candidates",
};
export const REPEATS: Record<string, string> = { auto: "when worthwhile", allowed: "always allowed", never: "never" };
export const NOISE: Record<string, string> = {
  auto: "estimated from the results",
  none: "none: repeats give the same value",
};
export const FAILURES: Record<string, string> = {
  learn: "avoid where measurements fail",
  ignore: "take no notice of them",
};

const options = (words: Record<string, string>): [string, string][] => Object.entries(words);

interface Now {
  settings: Settings;
  columns: Column[];
  measured: boolean; // whether there are results: then what is measured, and its direction, stays
}

export const tagsIn = (text = ""): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

export function settingsFields({ settings: now, columns, measured }: Now): FieldProps[] {
  return [
    { name: "description", label: "Description", kind: "area", value: now.description },
    { name: "tags", label: "Tags", value: (now.tags ?? []).join(", "), hint: "Separated by commas." },
    ...quantityFields(now, measured),
    ...choosingFields(now),
    ...stopFields(now),
    ...costFields(now, columns),
  ];
}

function choosingFields(now: Settings): FieldProps[] {
  const repeats = typeof now.repeats === "number" ? now.repeats : null;
  const noise = typeof now.noise === "number" ? now.noise : null;
  return [
    { heading: "How to choose", name: "goal", label: "Goal", options: options(GOALS), value: now.goal },
    { name: "min_batch", label: "Smallest batch", kind: "number", min: 1, value: now.min_batch },
    { name: "max_batch", label: "Largest batch", kind: "number", min: 1, value: now.max_batch },
    { name: "first_batch", label: "First batch", kind: "number", min: 1, value: now.first_batch },
    {
      name: "repeats",
      label: "Repeat measurements",
      options: options(REPEATS),
      value: repeats === null ? (now.repeats ?? "auto") : "allowed",
    },
    {
      name: "repeats_most",
      label: "Measurements per candidate, at most",
      kind: "number",
      min: 1,
      value: repeats,
      hint: "Optional. A number here counts instead of the choice before it.",
    },
    {
      name: "noise",
      label: "Measurement noise",
      options: options(NOISE),
      value: noise === null ? (now.noise ?? "auto") : "auto",
    },
    {
      name: "noise_std",
      label: withUnit("Standard deviation of one measurement", now.unit && `(${now.unit})`),
      kind: "number",
      step: "any",
      min: 0,
      value: noise,
      hint: "Optional, if you know it. A number here counts instead of the choice before it.",
    },
    { name: "failures", label: "Failed measurements", options: options(FAILURES), value: now.failures ?? "learn" },
    {
      name: "where",
      label: "Only candidates with",
      kind: "area",
      value: (now.where ?? []).join("\n"),
      hint: "One condition per line, such as solvent=DMF. Every ask adds them to its own.",
    },
  ];
}

function stopFields(now: Settings): FieldProps[] {
  const several = (now.objectives?.length ?? 1) > 1;
  return [
    {
      heading: "When to stop",
      name: "regret",
      label: `No candidate can be better by more than${several || !now.unit ? "" : ` (${differenceUnit(now.unit)})`}`,
      kind: "number",
      step: "any",
      min: 0,
      value: now.stop?.regret_bound,
    },
    {
      name: "observations",
      label: "After this many results",
      kind: "number",
      min: 1,
      value: now.stop?.observations,
    },
    { name: "date", label: "At the end of this day", kind: "date", value: dayOf(now.stop?.date) },
    {
      name: "confirm",
      label: "Repeat the best few this often before the study ends",
      kind: "number",
      min: 2,
      value: now.confirm,
    },
    { name: "overdue", label: "Overdue after (hours)", kind: "number", step: "any", min: 0, value: now.overdue_hours },
  ];
}

// A budget means nothing where no column says what a measurement costs.
function costFields(now: Settings, columns: Column[]): FieldProps[] {
  if (!columns.some(({ expense }) => expense === "cost")) return [];
  return [
    {
      heading: "Cost",
      name: "budget",
      label: withUnit("Budget for all measurements", now.cost_unit ? `(${now.cost_unit})` : ""),
      kind: "number",
      step: "any",
      min: 0,
      value: now.budget,
    },
    { name: "cost_unit", label: "Unit of the costs", value: now.cost_unit, maxlength: 100 },
  ];
}

const orNull = (text: string | undefined): number | null => (text ? Number(text) : null);

// A day as the reader's calendar has it, and its last second.
const dayOf = (moment: string | null | undefined): string => {
  if (!moment) return "";
  const day = new Date(moment);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
};
const endOf = (day: string): string => new Date(`${day}T23:59:59`).toISOString();

function dateFrom(day: string | undefined, now: Settings): string | null {
  const before = now.stop?.date ?? null;
  if (!day) return null;
  return day === dayOf(before) ? before : endOf(day); // untouched: the very moment that was set
}

export function settingsFrom(values: Record<string, string>, { settings: now, columns, measured }: Now): object {
  return {
    description: values.description,
    tags: tagsIn(values.tags),
    ...quantitiesFrom(values, now, measured),
    goal: values.goal,
    repeats: orNull(values.repeats_most) ?? values.repeats,
    noise: orNull(values.noise_std) ?? values.noise,
    failures: values.failures,
    where: (values.where ?? "").split("\n").flatMap((line) => line.trim() || []),
    min_batch: Number(values.min_batch),
    max_batch: Number(values.max_batch),
    first_batch: orNull(values.first_batch),
    overdue_hours: orNull(values.overdue),
    confirm: orNull(values.confirm),
    stop: {
      regret_bound: orNull(values.regret),
      observations: orNull(values.observations),
      date: dateFrom(values.date, now),
    },
    ...(costFields(now, columns).length ? { budget: orNull(values.budget), cost_unit: values.cost_unit || null } : {}),
  };
}
