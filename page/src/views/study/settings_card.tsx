// The settings of a study in words, and the button that changes them.

import { Fragment } from "preact";
import { count, differenceUnit, fullTime, number, withUnit } from "../../core/format.ts";
import { constraintWords } from "../../core/quantities.ts";
import type { Settings as StudySettings } from "../../core/types.ts";
import { Term } from "../../parts/term.tsx";
import { FAILURES, GOALS, NOISE, REPEATS } from "./settings_form.ts";

export function SettingsCard({ settings: c, edit }: { settings: StudySettings; edit: (() => void) | null }) {
  const size = `${count(c.min_batch ?? 1)} to ${count(c.max_batch ?? 100)}`;
  const repeats = typeof c.repeats === "number" ? `at most ${c.repeats} per candidate` : REPEATS[c.repeats ?? "auto"];
  return (
    <section class="card">
      <header>
        <h2>Settings</h2>
        <span class="push" />
        {edit && (
          <button type="button" class="small" onClick={edit}>
            Change
          </button>
        )}
      </header>
      <dl class="facts">
        <QuantityFacts settings={c} />
        <dt>
          <Term name="goal">Goal</Term>
        </dt>
        <dd>{GOALS[c.goal ?? "best"]}</dd>
        <dt>
          <Term name="batch">Batch size</Term>
        </dt>
        <dd>{c.first_batch ? `${size}, the first batch ${c.first_batch}` : size}</dd>
        <dt>
          <Term name="repeats">Repeat measurements</Term>
        </dt>
        <dd>{repeats}</dd>
        <dt>
          <Term name="noise">Measurement noise</Term>
        </dt>
        <dd>{noiseWords(c)}</dd>
        <dt>
          <Term name="stop">Stop</Term>
        </dt>
        <dd>{stopWords(c)}</dd>
        <FurtherFacts settings={c} />
        <dt>
          <Term name="overdue">Overdue</Term>
        </dt>
        <dd>{c.overdue_hours ? `after ${number(c.overdue_hours)} hours` : "never"}</dd>
        <dt>
          <Term name="model">Model</Term>
        </dt>
        <dd>{c.theory ? theoryWords(c) : "fitted to the results"}</dd>
      </dl>
      <details class="reproduce">
        <summary class="small">To reproduce the batches</summary>
        <dl class="facts">
          <dt>Algorithm</dt>
          <dd class="mono">{c.algorithm}</dd>
          <dt>
            <Term name="seed">Random seed</Term>
          </dt>
          <dd class="mono">{String(c.seed ?? 0)}</dd>
        </dl>
      </details>
    </section>
  );
}

const noiseWords = ({ noise, unit }: StudySettings): string =>
  typeof noise === "number"
    ? `standard deviation ${withUnit(number(noise), unit)}`
    : (NOISE[noise ?? "auto"] ?? "estimated from the results");

// What only some studies set.
function FurtherFacts({ settings: c }: { settings: StudySettings }) {
  return (
    <>
      <dt>
        <Term name="confirm">Confirm the best</Term>
      </dt>
      <dd>{c.confirm ? `the best few are measured ${c.confirm} times` : "no further measurements"}</dd>
      <dt>
        <Term name="failed">Failed measurements</Term>
      </dt>
      <dd>{FAILURES[c.failures ?? "learn"]}</dd>
      {(c.where?.length ?? 0) > 0 && (
        <>
          <dt>Only candidates with</dt>
          <dd>{c.where?.join(", ")}</dd>
        </>
      )}
      {c.budget != null && (
        <>
          <dt>
            <Term name="budget">Budget</Term>
          </dt>
          <dd>{withUnit(number(c.budget, 6), c.cost_unit ?? "")}</dd>
        </>
      )}
      <dt>
        <Term name="tags">Tags</Term>
      </dt>
      <dd>{c.tags?.length ? c.tags.join(", ") : "none"}</dd>
    </>
  );
}

const AIMS = { maximize: "larger is better", minimize: "smaller is better", target: "near" };

// Every objective and every constraint, with the values that are possible at all.
function QuantityFacts({ settings: { objectives, constraints } }: { settings: StudySettings }) {
  return (
    <>
      {(objectives ?? []).map(({ name, unit = "", direction, target, limits }) => (
        <Fragment key={name}>
          <dt>{`Measured quantity${(objectives?.length ?? 1) > 1 ? `: ${name}` : ""}`}</dt>
          <dd>
            {[
              `${withUnit(name, unit && `in ${unit}`)}, ${AIMS[direction]}${direction === "target" ? ` ${withUnit(number(target), unit)} is better` : ""}`,
              limitWords(limits, unit),
            ]
              .filter(Boolean)
              .join("; ")}
          </dd>
        </Fragment>
      ))}
      {(constraints ?? []).map((constraint) => (
        <Fragment key={constraint.name}>
          <dt>{`Must be good enough: ${constraint.name}`}</dt>
          <dd>
            {[constraintWords(constraint, constraint.unit), limitWords(constraint.limits, constraint.unit)]
              .filter(Boolean)
              .join("; ")}
          </dd>
        </Fragment>
      ))}
    </>
  );
}

type Limits = NonNullable<StudySettings["limits"]>;

function limitWords(limits: Limits | null | undefined, unit = ""): string {
  const { low, high } = limits ?? {};
  if (low != null && high != null) return `possible values: ${number(low)} to ${withUnit(number(high), unit)}`;
  const parts = [
    low != null && `not below ${withUnit(number(low), unit)}`,
    high != null && `not above ${withUnit(number(high), unit)}`,
  ];
  const known = parts.filter(Boolean).join(" and ");
  return known && `possible values: ${known}`;
}

function theoryWords({ theory, unit }: StudySettings): string {
  if (!theory) return "";
  const kernel = (theory.kernel as { kind?: string } | undefined)?.kind ?? "given";
  return `${kernel} kernel, noise ${withUnit(number(theory.noise), unit)}, norm ${number(theory.norm)}`;
}

function stopWords({ stop, unit = "" }: StudySettings): string {
  const rules = [
    stop?.regret_bound &&
      `when no candidate can be better by more than ${withUnit(number(stop.regret_bound), differenceUnit(unit))}`,
    stop?.observations && `after ${count(stop.observations)} results`,
    stop?.date && `on ${fullTime(stop.date)}`,
  ].filter(Boolean);
  return rules.length ? rules.join(", or ") : "no rule";
}
