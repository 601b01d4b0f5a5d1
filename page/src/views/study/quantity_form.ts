// What is measured, as fields and back: names and directions until the first result; units, possible values, targets,
// bounds and weights at any time.

import { withUnit } from "../../core/format.ts";
import type { Settings } from "../../core/types.ts";
import type { FieldProps } from "../../parts/field.tsx";

type Objective = NonNullable<Settings["objectives"]>[number];
type Constraint = NonNullable<Settings["constraints"]>[number];

const DIRECTIONS: [string, string][] = [
  ["maximize", "larger is better"],
  ["minimize", "smaller is better"],
  ["target", "near a target is better"],
];

export function quantityFields(now: Settings, measured: boolean): FieldProps[] {
  const objectives = now.objectives ?? [];
  const several = objectives.length > 1;
  return [
    ...objectives.flatMap((objective, position) => objectiveFields(objective, position, several, measured, now)),
    ...(now.constraints ?? []).flatMap(constraintFields),
  ];
}

const number = (name: string, label: string, value: number | null | undefined, more: Partial<FieldProps> = {}) => ({
  name,
  label,
  kind: "number" as const,
  step: "any",
  value,
  ...more,
});

function objectiveFields(
  objective: Objective,
  position: number,
  several: boolean,
  measured: boolean,
  now: Settings,
): FieldProps[] {
  const { name, unit = "", direction, target, limits } = objective;
  const id = (field: string) => `objective ${position} ${field}`;
  const fixed: FieldProps[] = measured
    ? []
    : [
        { name: id("name"), label: "Name", value: name, required: true, maxlength: 100 },
        { name: id("direction"), label: "Which values are better?", options: DIRECTIONS, value: direction },
      ];
  const [first, ...rest] = [
    ...fixed,
    { name: id("unit"), label: "Unit", value: unit, maxlength: 100 },
    ...(measured && direction !== "target"
      ? []
      : [number(id("target"), withUnit("Target", unit && `(${unit})`), target)]),
    number(id("low"), "Lowest possible value", limits?.low),
    number(id("high"), "Highest possible value", limits?.high),
    ...(several
      ? [
          number(id("weight"), "Weight", now.prefer?.[name], {
            min: 0,
            hint: "With weights one compromise is sought; without them, the whole front.",
          }),
          number(id("reference"), "Too bad to be of interest", now.reference?.[name]),
        ]
      : []),
  ];
  return [
    { ...(first as FieldProps), heading: several ? `Objective: ${name}` : `Measured quantity: ${name}` },
    ...rest,
  ];
}

function constraintFields(constraint: Constraint, position: number): FieldProps[] {
  const { name, unit = "", at_least: least, at_most: most } = constraint;
  const titled = (words: string) => withUnit(words, unit && `(${unit})`);
  return [
    number(`constraint ${position} least`, titled("At least"), least, { heading: `Must be good enough: ${name}` }),
    number(`constraint ${position} most`, titled("At most"), most),
  ];
}

const orNull = (text: string | undefined): number | null => (text ? Number(text) : null);

export function quantitiesFrom(values: Record<string, string>, now: Settings, measured: boolean): object {
  const before = now.objectives ?? [];
  const objectives = before.map((objective, position) => objectiveFrom(values, objective, position, measured));
  const constraints = (now.constraints ?? []).map((constraint, position) => ({
    ...constraint,
    at_least: orNull(values[`constraint ${position} least`]),
    at_most: orNull(values[`constraint ${position} most`]),
  }));
  const byName = (field: string) =>
    Object.fromEntries(
      objectives.flatMap(({ name }, position) => {
        const text = values[`objective ${position} ${field}`];
        return text ? [[name, Number(text)]] : [];
      }),
    );
  const several = before.length > 1;
  return {
    objectives,
    ...(constraints.length ? { constraints } : {}),
    ...(several ? { prefer: byName("weight"), reference: byName("reference") } : {}),
  };
}

function objectiveFrom(
  values: Record<string, string>,
  before: Objective,
  position: number,
  measured: boolean,
): Objective {
  const value = (field: string) => values[`objective ${position} ${field}`];
  const direction = measured ? before.direction : (value("direction") as Objective["direction"]);
  const limits = { low: orNull(value("low")), high: orNull(value("high")) };
  return {
    ...before,
    ...(measured ? {} : { name: value("name") ?? before.name, direction }),
    unit: value("unit") ?? "",
    target: direction === "target" ? orNull(value("target")) : null,
    limits: limits.low === null && limits.high === null ? null : limits,
  };
}
