// One candidate on the bench: its key, its settings, and a field for each measurement.

import { useRef, useState } from "preact/hooks";
import { candidatePath } from "../../core/address.ts";
import { cell, plural } from "../../core/format.ts";
import { type Item, put, useWaiting } from "../../core/outbox.ts";
import { isSeveral } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Cell, Suggestion } from "../../core/types.ts";
import { expectedWords, stateWords } from "../../core/words.ts";
import { ask } from "../../parts/dialog.tsx";
import { Structures } from "../../parts/structure.tsx";
import type { BenchFacts } from "./facts.ts";
import { isPartly, Measurement } from "./measurement.tsx";
import { Entry, Saved, Waiting } from "./slot.tsx";
import { askToSwap } from "./swap.ts";

export interface RowProps {
  suggestion: Suggestion;
  facts: BenchFacts;
  name: string;
  onScanned: (key: string) => boolean;
  onSaved: (element: HTMLElement) => void;
  look: () => Promise<void>;
}

const OPEN = ".entry input:not(:disabled)"; // a field that wants a value

export function BenchRow(props: RowProps) {
  const { suggestion, name } = props;
  const element = useRef<HTMLLIElement>(null);
  const mine = useWaiting(name).filter((item) => item.place.startsWith(`${suggestion.suggestion}/`));
  const onSaved = () => {
    const row = element.current;
    const next = row && isSeveral(props.facts.summary) && row.querySelector<HTMLInputElement>(OPEN);
    if (next) next.focus();
    else if (row) props.onSaved(row);
  };
  return (
    <li class="bench-row" ref={element} data-state={suggestion.state} data-key={suggestion.key}>
      <Front {...props} />
      <div class="slots">
        <Slots {...props} mine={mine} onSaved={onSaved} />
      </div>
    </li>
  );
}

function Front({ suggestion, facts, name }: RowProps) {
  const { key, replicates, state, attributes, features, why } = suggestion;
  const partly = isPartly(suggestion, facts);
  return (
    <div class="what">
      <div class="row">
        <strong class="key">
          <a href={candidatePath(name, key)}>{key}</a>
        </strong>
        {replicates > 1 && <span class="chip">{`${replicates} measurements`}</span>}
        {state !== "pending" && (
          <span class={`chip ${state === "observed" && !partly ? "accent" : "warn"}`}>
            {partly ? "partly measured" : stateWords(state)}
          </span>
        )}
      </div>
      <Structures
        study={name}
        columns={facts.study.columns}
        id={key}
        cells={features as Record<string, Cell>}
        size={132}
      />
      <Conditions cells={[...Object.entries(attributes), ...Object.entries(features)] as [string, Cell][]} />
      {why.mean !== null && <p class="quiet small no-print">{`Expected: ${expectedWords(why, facts.summary)}.`}</p>}
    </div>
  );
}

const MOST_CONDITIONS = 16; // of a row at first; the others are one tap away

function Conditions({ cells }: { cells: [string, Cell][] }) {
  const first = cells.length > MOST_CONDITIONS ? cells.slice(0, MOST_CONDITIONS - 4) : cells;
  const others = cells.slice(first.length);
  const list = (shown: [string, Cell][]) => (
    <dl class="conditions">
      {shown.map(([column, value]) => (
        <div key={column}>
          <dt>{column}</dt>
          <dd class="number">{cell(value)}</dd>
        </div>
      ))}
    </dl>
  );
  return (
    <>
      {list(first)}
      {others.length > 0 && (
        <details class="small">
          <summary>{plural(others.length, "more column")}</summary>
          {list(others)}
        </details>
      )}
    </>
  );
}

export type SlotsProps = Omit<RowProps, "onSaved"> & {
  mine: Item[];
  noting?: boolean;
  onSaved: () => void;
};

function Slots(props: SlotsProps) {
  const { suggestion, name, mine } = props;
  const [noting, setNoting] = useState(false);
  const lost = mine.find((item) => item.place.endsWith("/lost"));
  if (lost) return <Waiting item={lost} name={name} />;
  if (suggestion.state === "failed" || suggestion.state === "abandoned")
    return (
      <>
        <p class="quiet">
          {suggestion.state === "failed" ? "Marked as failed." : "Abandoned."}
          {may("report") && " You can still report a value:"}
        </p>
        {may("report") && <Slot {...props} replicate={1} />}
      </>
    );
  return (
    <>
      {Array.from({ length: suggestion.replicates }, (_, position) => position + 1).map((replicate) => (
        <Slot {...props} noting={noting} replicate={replicate} key={replicate} />
      ))}
      <Lost {...props} noting={noting} onNote={() => setNoting(!noting)} />
    </>
  );
}

function Slot(props: SlotsProps & { replicate: number }) {
  if (isSeveral(props.facts.summary)) return <Measurement {...props} />;
  return <OnlySlot {...props} />;
}

function OnlySlot(props: SlotsProps & { replicate: number }) {
  const { suggestion, replicate, mine, facts, name } = props;
  const place = `${suggestion.suggestion}/${replicate}`;
  const kept = mine.find((item) => item.place === place);
  if (kept) return <Waiting item={kept} name={name} unit={facts.summary.unit} suggestion={suggestion} />;
  const result = facts.results.get(place);
  if (result?.state === "recorded") return <Saved result={result} {...props} />;
  return may("report") ? <Entry place={place} takenBack={result} {...props} /> : <span class="quiet">pending</span>;
}

function Lost({ suggestion, name, mine, look, noting, onNote }: SlotsProps & { onNote: () => void }) {
  if (!may("report") || suggestion.state !== "pending" || mine.length) return null;
  const { key, suggestion: id } = suggestion;
  const lose = (report: object, words: string) => put(name, `${id}/lost`, { suggestion: id, ...report }, words);
  const fail = () =>
    ask({
      title: `${key} failed`,
      confirm: "Mark as failed",
      fields: [
        { name: "reason", label: "What happened", required: true, maxlength: 500, placeholder: "vial broke" },
        {
          name: "retry",
          label: "Worth trying again?",
          options: [
            ["yes", "Yes, it may be suggested again"],
            ["no", "No, mark the candidate as unavailable"],
          ],
          value: "yes",
        },
      ],
      act: ({ reason, retry }) => lose({ failed: { reason, retry: retry === "yes" } }, `failed: ${reason}`),
    });
  const abandon = () =>
    ask({
      title: `Abandon ${key}`,
      text: "The batch no longer waits for it. You can still report a result later.",
      confirm: "Abandon",
      fields: [{ name: "reason", label: "Reason", required: true, maxlength: 500 }],
      act: ({ reason }) => lose({ abandoned: { reason } }, `abandoned: ${reason}`),
    });
  return (
    <div class="row no-print lost">
      <button
        type="button"
        class="plain small"
        aria-label={`Note on ${key}`}
        aria-expanded={noting ?? false}
        onClick={onNote}
      >
        Note
      </button>
      <button type="button" class="plain small" aria-label={`${key} failed`} onClick={fail}>
        Failed
      </button>
      <button type="button" class="plain small" aria-label={`Abandon ${key}`} onClick={abandon}>
        Abandon
      </button>
      {may("ask") && (
        <button
          type="button"
          class="plain small"
          aria-label={`Swap ${key} for another candidate`}
          onClick={() => askToSwap(name, suggestion, look)}
        >
          Swap
        </button>
      )}
    </div>
  );
}
