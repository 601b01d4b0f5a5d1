// The fields of an ask: how many, which candidates, what they share. What is rarely needed is folded away.

import { useState } from "preact/hooks";
import { get, query, studyApi } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import { useDelayed } from "../../core/hooks.ts";
import type { CandidatePage, Study } from "../../core/types.ts";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Term } from "../../parts/term.tsx";
import { ConditionBuilder, ConditionChips } from "../study/filters.tsx";
import { type Favourite, type How, type Rule, ruleWords, type Sharing, type Terms } from "./terms.ts";

interface PartProps {
  terms: Terms;
  change: (part: Partial<Terms>) => void;
}

export function Sizes({ terms, change }: PartProps) {
  return (
    <div class="fields">
      <Field
        name="worker"
        label="Worker"
        value={terms.worker}
        hint="The bench, robot or person that will measure."
        required
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,99}"
        onInput={(worker) => change({ worker })}
      />
      <Field
        name="how"
        label="How many measurements"
        options={[
          ["most", "at most this many"],
          ["exactly", "exactly this many"],
          ["least", "at least this many"],
        ]}
        value={terms.how}
        onInput={(how) => change({ how: how as How })}
      />
      <Field
        name="number"
        label="Number"
        kind="number"
        min={1}
        step="1"
        value={terms.number}
        hint="Leave empty to let the server decide within the limits of the study."
        onInput={(number) => change({ number })}
      />
    </div>
  );
}

export function Selection({ terms, change, study, pins }: PartProps & { study: Study; pins: string[] }) {
  const { where, include, exclude } = terms;
  const stated = [
    where.length && plural(where.length, "condition"),
    include.length && `${include.length} of your own`,
    exclude.length && `${exclude.length} left out`,
  ].filter(Boolean);
  const standing = study.configuration.where ?? [];
  return (
    <details class="asking-part">
      <summary>{`Which candidates${stated.length ? `: ${stated.join(", ")}` : ""}`}</summary>
      <section>
        <h3 aria-level={2}>Only those that meet</h3>
        {standing.length > 0 && (
          <p class="quiet small">{`The study's own conditions hold as well: ${standing.join("; ")}.`}</p>
        )}
        <div class="chip-list">
          <ConditionChips where={where} onChange={(conditions) => change({ where: conditions })} />
        </div>
        <ConditionBuilder
          columns={study.columns}
          onAdd={(condition) => change({ where: [...where.filter((other) => other !== condition), condition] })}
        />
      </section>
      <section>
        <h3 aria-level={2}>In any case</h3>
        <p class="quiet small">
          Your favourites, or a control for every plate. The rest of the batch is chosen around them.
        </p>
        <Favourites study={study} pins={pins} include={include} onChange={(chosen) => change({ include: chosen })} />
      </section>
      <section>
        <h3 aria-level={2}>Not this time</h3>
        <ul class="chip-list">
          {exclude.map((key) => (
            <li key={key}>
              <button
                type="button"
                class="chip"
                aria-label={`No longer leave out ${key}`}
                onClick={() => change({ exclude: exclude.filter((other) => other !== key) })}
              >
                {`${key} ×`}
              </button>
            </li>
          ))}
        </ul>
        <KeyPicker
          study={study.name}
          label="Leave out a candidate"
          onPick={(key) => change({ exclude: [...exclude.filter((other) => other !== key), key] })}
        />
      </section>
    </details>
  );
}

interface FavouritesProps {
  study: Study;
  pins: string[];
  include: Favourite[];
  onChange: (include: Favourite[]) => void;
}

function Favourites({ study, pins, include, onChange }: FavouritesProps) {
  const add = (key: string) => {
    if (!include.some((favourite) => favourite.key === key)) onChange([...include, { key, replicates: 1 }]);
  };
  const offered = pins.filter((key) => !include.some((favourite) => favourite.key === key));
  return (
    <>
      <ul class="favourites">
        {include.map(({ key, replicates }) => (
          <li key={key}>
            <b class="key">{key}</b>
            <input
              type="number"
              min={1}
              max={1000}
              required
              aria-label={`Measurements of ${key}`}
              value={replicates}
              onInput={(event) => {
                const times = Math.max(1, Math.round(Number(event.currentTarget.value) || 1));
                onChange(include.map((other) => (other.key === key ? { key, replicates: times } : other)));
              }}
            />
            <span class="quiet small">{replicates === 1 ? "measurement" : "measurements"}</span>
            <button
              type="button"
              class="plain icon small"
              aria-label={`Remove ${key}`}
              onClick={() => onChange(include.filter((other) => other.key !== key))}
            >
              <Icon name="close" size={16} />
            </button>
          </li>
        ))}
      </ul>
      {offered.length > 0 && (
        <ul class="chip-list" aria-label="Pinned candidates">
          {offered.map((key) => (
            <li key={key}>
              <button
                type="button"
                class="chip"
                aria-label={`Include ${key}, which is pinned`}
                onClick={() => add(key)}
              >
                <Icon name="pin" size={13} />
                {key}
              </button>
            </li>
          ))}
        </ul>
      )}
      <KeyPicker study={study.name} label="Include a candidate" onPick={add} />
    </>
  );
}

interface PickerProps {
  study: string;
  label: string;
  onPick: (key: string) => void;
}

// A key, typed with the help of those that contain what is typed. Enter adds it.
function KeyPicker({ study, label, onPick }: PickerProps) {
  const [text, setText] = useState("");
  const [keys, setKeys] = useState<string[]>([]);
  const list = `${label.replaceAll(" ", "-")}-keys`;
  const find = useDelayed(async (search: string) => {
    const page = await get<CandidatePage>(studyApi(study, "/candidates") + query({ search, limit: 8 }));
    setKeys(page.candidates.map(({ key }) => key));
  }, 150);
  const pick = () => {
    const key = text.trim();
    if (!key) return;
    onPick(keys.find((known) => known.toLowerCase() === key.toLowerCase()) ?? key);
    setText("");
  };
  return (
    <div class="row adding">
      <input
        aria-label={label}
        placeholder="Key of a candidate"
        list={list}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          find(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          pick();
        }}
      />
      <datalist id={list}>
        {keys.map((key) => (
          <option value={key} key={key} />
        ))}
      </datalist>
      <button type="button" disabled={!text.trim()} aria-label={`${label}: add`} onClick={pick}>
        Add
      </button>
    </div>
  );
}

const SHARINGS: [Sharing, string][] = [
  ["same", "has one value in the whole batch"],
  ["at_most", "has at most this many values"],
  ["per", "has at most this many measurements for each value"],
];
const PLATES: [string, string][] = [
  ["", "no plate"],
  ["6", "6 wells (2 × 3)"],
  ["12", "12 wells (3 × 4)"],
  ["24", "24 wells (4 × 6)"],
  ["48", "48 wells (6 × 8)"],
  ["96", "96 wells (8 × 12)"],
  ["384", "384 wells (16 × 24)"],
];

export function Composition({ terms, change, study }: PartProps & { study: Study }) {
  const { rules, wells } = terms;
  const stated = [...rules.map(ruleWords), ...(wells ? [`${wells} wells`] : [])];
  const add = (rule: Rule) =>
    change({
      rules: [...rules.filter((other) => other.column !== rule.column || other.sharing !== rule.sharing), rule],
    });
  return (
    <details class="asking-part">
      <summary>{`What the batch shares${stated.length ? `: ${stated.join(", ")}` : ""}`}</summary>
      <section>
        <h3 aria-level={2}>
          <Term name="composition">Rules</Term>
        </h3>
        <ul class="chip-list">
          {rules.map((rule) => (
            <li key={`${rule.column} ${rule.sharing}`}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove the rule: ${ruleWords(rule)}`}
                onClick={() => change({ rules: rules.filter((other) => other !== rule) })}
              >
                {`${ruleWords(rule)} ×`}
              </button>
            </li>
          ))}
        </ul>
        <RuleBuilder study={study} onAdd={add} />
      </section>
      <Field
        name="wells"
        label="Fill a plate"
        options={PLATES}
        value={wells ?? ""}
        hint="The batch gets a measurement for every well. Its layout can be printed at the bench."
        onInput={(text) => change({ wells: Number(text) || null })}
      />
    </details>
  );
}

function RuleBuilder({ study, onAdd }: { study: Study; onAdd: (rule: Rule) => void }) {
  const columns = study.columns.filter((column) => column.role !== "key");
  const [column, setColumn] = useState(columns[0]?.name ?? "");
  const [sharing, setSharing] = useState<Sharing>("same");
  const [number, setNumber] = useState(2);
  return (
    <div class="row adding">
      <select aria-label="Column of the rule" value={column} onChange={(event) => setColumn(event.currentTarget.value)}>
        {columns.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        class="whole"
        aria-label="Rule"
        value={sharing}
        onChange={(event) => setSharing(event.currentTarget.value as Sharing)}
      >
        {SHARINGS.map(([key, words]) => (
          <option value={key} key={key}>
            {words}
          </option>
        ))}
      </select>
      {sharing !== "same" && (
        <input
          type="number"
          min={1}
          aria-label="How many"
          value={number}
          onInput={(event) => setNumber(Math.max(1, Math.round(Number(event.currentTarget.value) || 1)))}
        />
      )}
      <button type="button" disabled={!column} onClick={() => onAdd({ column, sharing, number })}>
        Add rule
      </button>
    </div>
  );
}
