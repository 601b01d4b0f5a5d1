// What is measured and what counts as better. Everything has a default that works; the rest is folded away.

import { useState } from "preact/hooks";
import { studyPath } from "../../core/address.ts";
import { Choices, Field } from "../../parts/field.tsx";
import { Term } from "../../parts/term.tsx";
import { tagsIn } from "../study/settings_form.ts";
import { type Further, FurtherQuantities, quantitiesOf } from "./quantities.tsx";

interface FormProps {
  name: string;
  taken: boolean;
  objective: string | undefined;
  further: Further[];
  onFurther: (further: Further[]) => void;
  onName: (name: string) => void;
}

const unitIn = (column: string | undefined) => /[([]([^()[\]]{1,12})[)\]]\s*$/.exec(column ?? "")?.[1] ?? "";
const withoutUnit = (column: string | undefined) => (column ?? "").replace(/\s*[([][^()[\]]{1,12}[)\]]\s*$/, "");

export function SettingsForm({ name, taken, objective, further, onFurther, onName }: FormProps) {
  const [direction, setDirection] = useState<"maximize" | "minimize" | "target">("maximize");
  return (
    <section class="card step">
      <header>
        <h2>What is measured</h2>
      </header>
      <div class="fields">
        <label class="field">
          Name
          <input
            name="name"
            value={name}
            onInput={(event) => onName(event.currentTarget.value)}
            required
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,99}"
            placeholder="suzuki-2026"
            autocomplete="off"
            class={taken ? "invalid" : ""}
            aria-describedby="name-hint"
          />
          <span class="hint" id="name-hint" role={taken ? "alert" : undefined}>
            {taken ? (
              <span class="bad-text">
                {"This name is taken: "}
                <a href={studyPath(name)}>{`open ${name}`}</a>
                {", or choose another."}
              </span>
            ) : (
              "Letters, digits, dots and dashes; it is part of the address."
            )}
          </span>
        </label>
        <Field
          name="objective"
          label="Measured quantity"
          placeholder="yield"
          value={withoutUnit(objective)}
          key={`objective ${objective}`}
        />
        <Field name="unit" label="Unit" placeholder="%" value={unitIn(objective)} key={`unit ${objective}`} />
        <div class="field">
          Which values are better?
          <div>
            <Choices
              label="Which values are better?"
              options={[
                ["maximize", "Larger"],
                ["minimize", "Smaller"],
                ["target", "A target"],
              ]}
              value={direction}
              onChange={setDirection}
            />
            <input type="hidden" name="direction" value={direction} />
          </div>
        </div>
        {direction === "target" && <Field name="target" label="Target" kind="number" step="any" required />}
        <Field name="description" label="Description" kind="area" wide />
        <Field name="tags" label="Tags" placeholder="catalysis, 2026-Q4" hint="Optional, separated by commas." wide />
      </div>
      <FurtherQuantities list={further} onChange={onFurther} />
      <MoreSettings />
    </section>
  );
}

function MoreSettings() {
  return (
    <details class="advanced">
      <summary>More settings</summary>
      <div class="fields">
        <Field
          name="limit_low"
          label="Smallest possible value"
          kind="number"
          step="any"
          placeholder="none"
          hint="A value below is saved only if you say that it is meant."
        />
        <Field
          name="limit_high"
          label="Largest possible value"
          kind="number"
          step="any"
          placeholder="none"
          hint="Such as 100 for a yield in %."
        />
        <Field
          name="goal"
          label="Goal"
          options={[
            ["best", "Find the best candidate"],
            ["production", "Get good results while measuring"],
            ["explore", "Learn about all candidates"],
          ]}
          value="best"
        />
        <Field
          name="max_batch"
          label="Largest batch"
          kind="number"
          min={1}
          placeholder="100"
          hint="The server chooses the size up to this limit."
        />
        <Field name="min_batch" label="Smallest batch" kind="number" min={1} placeholder="1" />
        <Field name="first_batch" label="First batch" kind="number" min={1} placeholder="automatic" />
        <Field
          name="repeats"
          label="Repeat measurements"
          options={[
            ["auto", "When worthwhile"],
            ["allowed", "Always allowed"],
            ["never", "Never"],
          ]}
          value="auto"
        />
        <Field
          name="repeats_most"
          label="Measurements per candidate, at most"
          kind="number"
          min={1}
          placeholder="no limit"
          hint="A number here counts instead of the choice before it."
        />
        <Field
          name="noise"
          label="Measurement noise"
          options={[
            ["auto", "Estimated from the results"],
            ["none", "None: repeats give the same value"],
          ]}
          value="auto"
        />
        <Field
          name="noise_std"
          label="Standard deviation of one measurement"
          kind="number"
          min={0}
          step="any"
          placeholder="not known"
          hint="A number here counts instead of the choice before it."
        />
        <Field
          name="overdue_hours"
          label="Overdue after (hours)"
          kind="number"
          min={0}
          step="any"
          placeholder="never"
        />
        <Field
          name="stop_regret"
          label="Stop when no candidate can be better by more than"
          kind="number"
          min={0}
          step="any"
        />
        <Field name="stop_observations" label="Stop after this many results" kind="number" min={1} />
        <Field
          name="seed"
          label="Random seed"
          kind="number"
          min={0}
          placeholder="0"
          hint={<Term name="seed">With the same seed and results you get the same batches.</Term>}
        />
      </div>
    </details>
  );
}

export type Chosen = Record<string, unknown>;

const TEXTS = ["description", "goal", "repeats", "noise"];
const NUMBERS = ["max_batch", "min_batch", "first_batch", "overdue_hours", "seed"];

export function readSettings(form: HTMLFormElement, further: Further[]): Chosen {
  const values = new FormData(form);
  const text = (name: string) => String(values.get(name) ?? "").trim();
  const given = (names: string[], make: (value: string) => unknown) =>
    Object.fromEntries(names.filter((name) => text(name)).map((name) => [name, make(text(name))]));
  const orNull = (name: string) => (text(name) ? Number(text(name)) : null);
  const limits = { low: orNull("limit_low"), high: orNull("limit_high") };
  const main = {
    name: text("objective") || "value",
    unit: text("unit"),
    direction: text("direction") as "maximize" | "minimize" | "target",
    ...(text("target") ? { target: Number(text("target")) } : {}),
    ...(limits.low === null && limits.high === null ? {} : { limits }),
  };
  return {
    ...quantitiesOf(main, further),
    ...given(["tags"], tagsIn),
    ...given(TEXTS, String),
    ...given(NUMBERS, Number),
    ...(text("repeats_most") ? { repeats: Number(text("repeats_most")) } : {}),
    ...(text("noise_std") ? { noise: Number(text("noise_std")) } : {}),
    stop: { regret_bound: orNull("stop_regret"), observations: orNull("stop_observations") },
  };
}
