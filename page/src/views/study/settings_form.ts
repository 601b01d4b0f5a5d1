// The settings that can change while a study runs, as fields and back.

import type { Settings } from "../../core/types.ts";
import type { FieldProps } from "../../parts/field.tsx";

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

const options = (words: Record<string, string>): [string, string][] => Object.entries(words);

export function settingsFields(now: Settings): FieldProps[] {
  const repeats = typeof now.repeats === "number" ? { [now.repeats]: `at most ${now.repeats} per candidate` } : {};
  return [
    { name: "description", label: "Description", kind: "area", value: now.description },
    ...(hasSeveral(now)
      ? []
      : [
          { name: "objective", label: "Measured quantity", value: now.objective },
          { name: "unit", label: "Unit", value: now.unit },
        ]),
    { name: "goal", label: "Goal", options: options(GOALS), value: now.goal },
    { name: "min_batch", label: "Smallest batch", kind: "number", min: 1, value: now.min_batch },
    { name: "max_batch", label: "Largest batch", kind: "number", min: 1, value: now.max_batch },
    {
      name: "repeats",
      label: "Repeat measurements",
      options: options({ ...REPEATS, ...repeats }),
      value: String(now.repeats ?? "auto"),
    },
    {
      name: "regret",
      label: "Stop when no candidate can be better by more than",
      kind: "number",
      step: "any",
      min: 0,
      value: now.stop?.regret_bound,
    },
    {
      name: "observations",
      label: "Stop after this many results",
      kind: "number",
      min: 1,
      value: now.stop?.observations,
    },
    { name: "overdue", label: "Overdue after (hours)", kind: "number", step: "any", min: 0, value: now.overdue_hours },
  ];
}

// Several objectives are set together, when the study is created.
const hasSeveral = ({ objectives }: Settings) => (objectives?.length ?? 1) > 1;

const orNull = (text: string | undefined): number | null => (text ? Number(text) : null);

export function settingsFrom(values: Record<string, string>, now: Settings): object {
  const repeats = values.repeats && /^\d+$/.test(values.repeats) ? Number(values.repeats) : values.repeats;
  return {
    description: values.description,
    ...(hasSeveral(now) ? {} : { objective: values.objective, unit: values.unit }),
    goal: values.goal,
    repeats,
    min_batch: Number(values.min_batch),
    max_batch: Number(values.max_batch),
    overdue_hours: orNull(values.overdue),
    stop: {
      regret_bound: orNull(values.regret),
      observations: orNull(values.observations),
      date: now.stop?.date ?? null,
    },
  };
}
