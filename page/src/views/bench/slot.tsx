// A place for one measurement: empty, waiting to be sent, in doubt, or saved.

import { useEffect, useRef, useState } from "preact/hooks";
import { exact, measured, parse, shortTime, whatToWrite, withUnit } from "../../core/format.ts";
import { confirm, discard, type Item, put } from "../../core/outbox.ts";
import { expectedOf, isCorrected } from "../../core/quantities.ts";
import { me } from "../../core/session.ts";
import type { Observation, Quantity, Suggestion } from "../../core/types.ts";
import { correctResult, mayCorrect, takeBack } from "../correcting.tsx";
import type { RowProps } from "./row.tsx";

interface EntryProps extends Omit<RowProps, "onSaved"> {
  place: string;
  replicate: number;
  takenBack?: Observation; // a new value is its correction: the place has a history
  quantity?: Quantity; // one of several
  noting?: boolean; // whether a note can be typed beside the value
  onSaved: () => void;
}

export function Entry(props: EntryProps) {
  const { takenBack, quantity, noting, place, replicate, suggestion, facts, name, onScanned, onSaved } = props;
  const input = useRef<HTMLInputElement>(null);
  const remark = useRef<HTMLInputElement>(null);
  const [complaint, setComplaint] = useState("");
  const unit = quantity?.unit ?? facts.summary.unit;
  const label = `${quantity?.name ?? facts.summary.objective} of ${suggestion.key}${suggestion.replicates > 1 ? `, measurement ${replicate}` : ""}`;
  const reportOf = (told: object, note = "") =>
    takenBack
      ? { ...told, reason: note || "Entered again at the bench." }
      : { suggestion: suggestion.suggestion, ...told, replicate, ...(note && { note }) };
  const save = () => {
    const element = input.current;
    const text = element?.value.trim();
    if (!element || !text) return;
    const value = parse(text);
    if (value === null && onScanned(text)) {
      element.value = ""; // a scanner types into whatever has the focus
      return;
    }
    if (value === null) return setComplaint(whatToWrite(text));
    setComplaint("");
    element.disabled = true;
    const again = takenBack && { observation: takenBack.observation, version: takenBack.version };
    const told = quantity ? { values: { [quantity.name]: value } } : { value };
    const report = reportOf(told, remark.current?.value.trim());
    put(name, place, report, exact(value), again);
    onSaved();
  };
  return (
    <div class="slot">
      <div class="entry">
        <input
          ref={input}
          name={place}
          type="text"
          inputMode="decimal"
          autocomplete="off"
          enterkeyhint="done"
          class={complaint ? "invalid" : ""}
          aria-label={label}
          placeholder={quantity?.name ?? (suggestion.replicates > 1 ? `#${replicate}` : "value")}
          onKeyDown={onEnter(save)}
        />
        {unit && <span class="quiet unit">{unit}</span>}
        <button type="button" class="small no-print" aria-label={`Save ${label}`} onClick={save}>
          Save
        </button>
      </div>
      {noting && (
        <input
          ref={remark}
          class="remark"
          type="text"
          autocomplete="off"
          maxLength={500}
          aria-label={`Note on ${label}`}
          placeholder="Note, saved with the value"
          onKeyDown={onEnter(save)}
        />
      )}
      {complaint && (
        <span class="small bad-text" role="alert">
          {complaint}
        </span>
      )}
    </div>
  );
}

const onEnter = (act: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  act();
};

interface WaitingProps {
  item: Item;
  name: string;
  unit?: string;
  quantity?: string;
  suggestion?: Suggestion;
}

// On this device, not yet on the server: on its way, refused, or in doubt until a person says that it is meant.
export function Waiting(props: WaitingProps) {
  const { item, name } = props;
  if (item.doubt) return <Doubt {...props} />;
  const another = item.key && item.key !== me()?.id; // a value is sent under the key it was typed with
  const state = another ? "typed with another key" : "not yet saved";
  return (
    <div class="slot waiting">
      <b class="number">{item.words}</b>
      <span class={`chip ${item.refused ? "bad" : "warn"}`}>{item.refused ? "refused" : state}</span>
      {item.refused && <span class="small">{item.refused}</span>}
      <button type="button" class="plain small" onClick={() => discard(name, item.place)}>
        {item.refused ? "Discard" : "Undo"}
      </button>
    </div>
  );
}

function Doubt({ item, name, unit = "", quantity = "", suggestion }: WaitingProps) {
  const known = expectedOf(suggestion?.why, quantity);
  const expected = known ? `Expected ${measured(known.mean, known.std, unit)}. ` : "";
  return (
    <div class="slot waiting doubt" role="alert">
      <b>{`${expected}Save ${withUnit(item.words, unit)} anyway?`}</b>
      <span class="small">{item.doubt}</span>
      <div class="row">
        <button type="button" class="primary" onClick={() => discard(name, item.place)}>
          Type it again
        </button>
        <button type="button" onClick={() => confirm(name, item.place)}>
          {`Save ${item.words}`}
        </button>
      </div>
    </div>
  );
}

const UNDO_SECONDS = 10;

export type SavedProps = Pick<RowProps, "suggestion" | "facts" | "name" | "look"> & { result: Observation };

export function Saved(props: SavedProps) {
  const { result, facts } = props;
  return (
    <div class="slot saved">
      <b class="number">{result.value === null ? "–" : exact(result.value)}</b>
      {facts.summary.unit && <span class="quiet">{facts.summary.unit}</span>}
      <SavedWhen {...props} />
      {result.note && <span class="small">{result.note}</span>}
    </div>
  );
}

// When it was saved, and how to take it back or correct it.
export function SavedWhen({ result, suggestion, facts, name, look }: SavedProps) {
  const undoable = useUndo(result);
  const own = mayCorrect(result);
  const undo = async () => {
    await takeBack(name, result, "Undone at the bench.");
    await look();
  };
  return (
    <>
      <span class="quiet small">{`${isCorrected(result) ? "corrected" : "saved"} ${shortTime(result.recorded_at)}`}</span>
      <span class="row acts">
        {own && undoable && (
          <button
            type="button"
            class="small no-print"
            aria-label={`Undo the value of ${suggestion.key}`}
            onClick={undo}
          >
            Undo
          </button>
        )}
        {own && (
          <button
            type="button"
            class="plain small no-print"
            aria-label={`Correct the value of ${suggestion.key}`}
            onClick={() => correctResult(name, result, facts.summary.quantities, look)}
          >
            Correct
          </button>
        )}
      </span>
    </>
  );
}

// For ten seconds after a value appears here for the first time. The clock of this device alone counts.
const firstSeen = new Map<string, number>();

function useUndo(result: Observation): boolean {
  const { observation, recorded_at, actor } = result;
  const id = `${observation} ${recorded_at}`;
  const fresh = !isCorrected(result) && actor === me()?.id && Math.abs(Date.now() - Date.parse(recorded_at)) < 60_000;
  if (fresh && !firstSeen.has(id)) firstSeen.set(id, Date.now());
  const left = () => UNDO_SECONDS * 1000 - (Date.now() - (firstSeen.get(id) ?? 0));
  const [on, setOn] = useState(() => left() > 0);
  // Once for each value.
  useEffect(() => {
    setOn(left() > 0);
    if (left() <= 0) return;
    const timer = setTimeout(() => setOn(false), left());
    return () => clearTimeout(timer);
  }, [id]);
  return on;
}
