// What is measured: one quantity or several, which way is better, and what must be good enough.

import { number, withUnit } from "./format.ts";
import type { Observation, Prediction, Quantity, Settings, Study, Summary, Why } from "./types.ts";

type Constraint = NonNullable<Settings["constraints"]>[number];

export const isSeveral = ({ quantities }: Pick<Summary, "quantities">): boolean => quantities.length > 1;

// What is made large, small or near a target; the other quantities must only be good enough.
export const objectivesOf = ({ quantities }: Pick<Summary, "quantities">): Quantity[] =>
  quantities.filter(({ direction }) => direction !== null);

// The quantity of a name, or the first.
export const quantityOf = (
  { quantities, objective: name, unit, direction }: Summary,
  wanted: string | null,
): Quantity =>
  quantities.find((quantity) => quantity.name === wanted) ?? quantities[0] ?? { name, unit, direction, measured: 0 };

export const quantityTitle = ({ name, unit }: Pick<Quantity, "name" | "unit">): string =>
  withUnit(name || "value", unit && `(${unit})`);

const DIRECTIONS = { maximize: "larger is better", minimize: "smaller is better", target: "near the target is better" };

export const directionWords = ({ direction }: Pick<Quantity, "direction">): string =>
  direction ? DIRECTIONS[direction] : "must be good enough";

export const constraintsOn = ({ configuration }: Pick<Study, "configuration">, name: string): Constraint[] =>
  (configuration.constraints ?? []).filter((constraint) => constraint.name === name);

export function constraintWords({ at_least: least, at_most: most }: Constraint, unit = ""): string {
  const parts = [
    least != null && `at least ${withUnit(number(least), unit)}`,
    most != null && `at most ${withUnit(number(most), unit)}`,
  ];
  return parts.filter(Boolean).join(" and ");
}

export const meets = (value: number, { at_least: least, at_most: most }: Constraint): boolean =>
  (least == null || value >= least) && (most == null || value <= most);

// "too low", "too high", or nothing.
export function faultWords(value: number, constraints: Constraint[]): string {
  if (constraints.every((constraint) => meets(value, constraint))) return "";
  return constraints.some(({ at_least: least }) => least != null && value < least) ? "too low" : "too high";
}

// Whether a result meets the constraints as far as they are measured.
export const isFeasible = ({ configuration }: Pick<Study, "configuration">, values: Record<string, number>): boolean =>
  (configuration.constraints ?? []).every((constraint) => {
    const value = values[constraint.name];
    return value === undefined || meets(value, constraint);
  });

const COMPLETED = "reported later"; // the server's reason of a version that only adds quantities

export const isCorrected = ({ version, reason }: Pick<Observation, "version" | "reason">): boolean =>
  version > 1 && reason !== COMPLETED;

interface Expected {
  mean: number;
  std: number;
}

// What was expected of one quantity; of the only one, the explanation says it itself.
export function expectedOf(why: Why | undefined, name: string): Expected | null {
  const known = why?.quantities[name];
  if (known) return known;
  const alone = why && !Object.keys(why.quantities).length && why.mean !== null && why.std !== null;
  return alone ? { mean: why.mean as number, std: why.std as number } : null;
}

// A prediction as one quantity sees it: `mean` to `upper` are about that one.
export const beliefOf = (belief: Prediction | null, name: string): Prediction | null => {
  const known = belief?.quantities[name];
  return belief && known ? { ...belief, ...known } : belief;
};
