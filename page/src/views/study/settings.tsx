// Settings: what the owner decided. Those with the right to can change it, pause, resume, archive and delete.

import { Fragment } from "preact";
import { at, go } from "../../core/address.ts";
import { change, studyApi } from "../../core/api.ts";
import { count, differenceUnit, fullTime, number, withUnit } from "../../core/format.ts";
import { constraintWords } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Column, Study, Settings as StudySettings } from "../../core/types.ts";
import { ask, toast } from "../../parts/dialog.tsx";
import { Term } from "../../parts/term.tsx";
import { Access } from "./access.tsx";
import { Verify } from "./batches.tsx";
import { type Facts, useFacts } from "./facts.ts";
import { GOALS, NOISE, REPEATS, settingsFields, settingsFrom } from "./settings_form.ts";

const STATES: Record<string, string> = {
  active: "You can ask for batches and report results.",
  paused: "No new batches until the study is resumed. You can still report results.",
  archived: "Read-only. An archived study cannot be resumed.",
};

interface Move {
  to: string;
  title: string;
  text: string;
  style: string;
}
const PAUSE: Move = {
  to: "paused",
  title: "Pause",
  text: "No new batches are issued until the study is resumed. You can still report results.",
  style: "",
};
const RESUME: Move = { to: "active", title: "Resume", text: "You can ask for batches again.", style: "primary" };
const ARCHIVE: Move = {
  to: "archived",
  title: "Archive",
  text: "This cannot be undone: an archived study cannot be resumed.",
  style: "danger",
};
const MOVES: Record<string, Move[]> = { active: [PAUSE, ARCHIVE], paused: [RESUME, ARCHIVE] };

export default function Settings() {
  const facts = useFacts();
  const patch = async (body: object) => {
    await change("PATCH", studyApi(facts.name), body, { "If-Match": `"${facts.study.version}"` });
    await facts.look();
    toast("Saved.");
  };
  const editable = may("manage") && facts.study.state !== "archived";
  const edit = () => {
    const now = facts.study.configuration;
    ask({
      title: "Change settings",
      confirm: "Save",
      fields: settingsFields(now),
      act: (values) => patch(settingsFrom(values, now)),
    });
  };
  return (
    <div class="charts">
      <SettingsCard settings={facts.study.configuration} edit={editable ? edit : null} />
      <ColumnsCard columns={facts.study.columns} />
      <StatusCard study={facts.study} patch={editable ? patch : null} />
      <Access />
      <AuditCard facts={facts} />
    </div>
  );
}

function SettingsCard({ settings: c, edit }: { settings: StudySettings; edit: (() => void) | null }) {
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
        <dd>{NOISE[c.noise ?? "auto"]}</dd>
        <dt>Stop</dt>
        <dd>{stopWords(c)}</dd>
        <dt>Overdue</dt>
        <dd>{c.overdue_hours ? `after ${number(c.overdue_hours)} hours` : "never"}</dd>
        <dt>Model</dt>
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

function ColumnsCard({ columns }: { columns: Column[] }) {
  const levels = ({ levels: names }: Column) => (names.length > 6 ? `${names.length} different` : names.join(", "));
  return (
    <section class="card">
      <header>
        <h2>Columns</h2>
      </header>
      {!columns.length && <p class="quiet">None yet.</p>}
      {columns.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Columns">
          <table class="plain">
            <thead>
              <tr>
                {["Column", "Role", "Type", "Values"].map((title) => (
                  <th scope="col" key={title}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {columns.map((column) => (
                <tr key={column.name}>
                  <td>
                    <b>{column.name}</b>
                  </td>
                  <td>{column.role === "attribute" ? "only shown" : column.role}</td>
                  <td>{column.kind}</td>
                  <td class="quiet small">{levels(column)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function StatusCard({ study, patch }: { study: Study; patch: ((body: object) => Promise<void>) | null }) {
  const move = ({ to, title, text, style }: Move) =>
    ask({
      title,
      text,
      confirm: title,
      danger: style === "danger",
      fields: [
        {
          name: "reason",
          label: "Reason",
          maxlength: 200,
          hint: "Optional. It is recorded in the history of the study.",
        },
      ],
      act: ({ reason }) => patch?.({ state: to, ...(reason ? { reason } : {}) }),
    });
  const remove = () =>
    ask({
      title: `Delete ${study.name}`,
      text: "Its candidates and results are gone for good. Only its name and history remain. Download the archive first.",
      confirm: "Delete for good",
      danger: true,
      fields: [{ name: "typed", label: `Type ${study.name} to confirm`, required: true }],
      act: async ({ typed }) => {
        if (typed !== study.name) throw new Error(`Type the name exactly: ${study.name}`);
        await change("DELETE", studyApi(study.name));
        toast(`${study.name} was deleted.`);
        go(at(""));
      },
    });
  return (
    <section class="card wide">
      <header>
        <h2>Status</h2>
        <span class="quiet small">{`created ${fullTime(study.created_at)} · version ${study.version}`}</span>
      </header>
      <p class="quiet">{STATES[study.state]}</p>
      <div class="row top">
        {patch &&
          (MOVES[study.state] ?? []).map((step) => (
            <button type="button" class={step.style} key={step.to} onClick={() => move(step)}>
              {step.title}
            </button>
          ))}
        <span class="push" />
        {may("manage") && (
          <a class="button" href={studyApi(study.name, "/archive")} download={`${study.name}.zip`}>
            Download everything
          </a>
        )}
        {may("manage") && (
          <button type="button" class="danger" onClick={remove}>
            Delete …
          </button>
        )}
      </div>
    </section>
  );
}

function AuditCard({ facts: { name, summary, trace } }: { facts: Facts }) {
  const last = trace.batches.at(-1);
  return (
    <section class="card wide">
      <header>
        <h2>
          <Term name="history">Audit</Term>
        </h2>
        <span class="push" />
        <Verify name={name} />
      </header>
      <p class="quiet">
        {`The history has ${count(summary.seq)} entries, each with a fingerprint of the one before. The timeline lists them; Replay, in Batches, computes any batch again.`}
      </p>
      {last && (
        <dl class="facts top">
          <dt>
            <Term name="reference">Reference points</Term>
          </dt>
          <dd class="number">{count(last.dictionary)}</dd>
          <dt>
            <Term name="dimension">Effective dimension</Term>
          </dt>
          <dd class="number">{number(last.effective_dimension, 3)}</dd>
          <dt>Computed by</dt>
          <dd class="mono">{last.build}</dd>
        </dl>
      )}
    </section>
  );
}
