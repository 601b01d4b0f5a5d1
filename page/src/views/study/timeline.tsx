// The ledger as a timeline: what happened, who did it and why, newest first.

import { useEffect, useState } from "preact/hooks";
import { studyPath } from "../../core/address.ts";
import { get, studyApi } from "../../core/api.ts";
import { clockTime, count, dayWords, fullTime, outcome, plural } from "../../core/format.ts";
import { may } from "../../core/session.ts";
import type { EventPage, LedgerEvent } from "../../core/types.ts";
import { actorWords, isNamed, learnNames, typeWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Failed, Loading } from "../../parts/states.tsx";
import { openFork } from "../asking.tsx";
import { askToTakeBackUpload, uploadOf } from "../correcting.tsx";
import { type Result, useFacts, useResults } from "./facts.ts";

const PAGE = 60;
const MOST_NAMED = 6;

const KINDS: [string, string, RegExp][] = [
  ["", "Everything", /./],
  ["batches", "Batches", /^(batch|suggestion)/],
  ["results", "Results", /^(observations|measurements)/],
  ["corrections", "Corrections", /^observation-/],
  ["candidates", "Candidates", /^(candidates|reservations)/],
  ["settings", "Settings and people", /^(study|fork|access|results-borrowed)/],
];

export default function Timeline() {
  const { name, study, summary, onEvent, look } = useFacts();
  const [events, setEvents] = useState<LedgerEvent[] | null>(null);
  const [earliest, setEarliest] = useState(summary.seq + 1);
  const [error, setError] = useState<unknown>(null);
  const [find, setFind] = useState("");
  const [kind, setKind] = useState("");
  const results = useResults().data ?? [];

  const older = async () => {
    const after = Math.max(0, earliest - 1 - PAGE);
    const page = await get<EventPage>(`${studyApi(name, "/events")}?after=${after}&limit=${PAGE}`);
    learnNames(page.actors);
    const fresh = page.events.filter((event) => event.seq < earliest).reverse();
    setEvents((known) => [...(known ?? []), ...fresh]);
    setEarliest(after + 1);
  };
  const begin = () => {
    setError(null);
    older().catch(setError);
  };
  // Once.
  useEffect(begin, []);
  useEffect(
    () =>
      onEvent(async (event) => {
        await learnActor(name, event).catch(() => undefined); // its id is shown then
        setEvents((known) => (!known || known.some((other) => other.seq === event.seq) ? known : [event, ...known]));
      }),
    [onEvent],
  );
  if (error && !events) return <Failed error={error} again={begin} />;
  if (!events) return <Loading part />;
  const wanted = KINDS.find(([key]) => key === kind)?.[2] ?? /./;
  const shown = events.filter((event) => wanted.test(event.type) && textOf(event).includes(find.toLowerCase()));
  return (
    <section class="card">
      <div class="row tools">
        <input
          class="search"
          type="search"
          placeholder="Find in the timeline"
          aria-label="Find in the timeline"
          onInput={(event) => setFind(event.currentTarget.value)}
        />
        <Select
          label="Kind of event"
          hideLabel
          options={KINDS.map(([key, words]) => [key, words])}
          value={kind}
          onChange={setKind}
        />
        {(find || kind) && (
          <span
            class="quiet small"
            role="status"
          >{`${shown.length} of the ${events.length} entries shown so far`}</span>
        )}
      </div>
      {byDay(shown).map(([day, entries]) => (
        <section key={day}>
          <h2 class="day">{day}</h2>
          <ol class="timeline">
            {entries.map((event) => (
              <Entry
                event={event}
                results={results}
                changed={changedBy(event, events)}
                key={event.seq}
                onFork={may("manage") ? () => openFork(study, event.seq) : null}
                onTakeBack={(upload) => askToTakeBackUpload(name, upload, look)}
              />
            ))}
          </ol>
        </section>
      ))}
      {earliest > 1 && (
        <div class="row">
          <button type="button" onClick={() => older().catch(setError)}>
            Earlier
          </button>
        </div>
      )}
    </section>
  );
}

// A live event comes without names; a page of the ledger has them.
async function learnActor(name: string, { seq, actor }: LedgerEvent): Promise<void> {
  if (isNamed(actor)) return;
  const page = await get<EventPage>(`${studyApi(name, "/events")}?after=${seq - 1}&limit=1`);
  learnNames(page.actors);
}

const textOf = ({ words, type, reason, actor }: LedgerEvent) =>
  `${words ?? typeWords(type)} ${reason ?? ""} ${actorWords(actor)}`.toLowerCase();

function byDay(events: LedgerEvent[]): [string, LedgerEvent[]][] {
  const days: [string, LedgerEvent[]][] = [];
  for (const event of events) {
    const [day, last] = [dayWords(event.recorded_at), days.at(-1)];
    if (last?.[0] === day) last[1].push(event);
    else days.push([day, [event]]);
  }
  return days;
}

// What the timeline reads of an event's own text.
interface Said {
  number?: number;
  failures?: { key: string; reason: string }[];
  observation?: number;
  values?: Record<string, { value: number }>;
  observations?: Said[];
  configuration?: Record<string, unknown>;
}

const read = (payload: string | undefined) => JSON.parse(payload || "{}") as Said;

// The settings that differ from those before, as far back as the timeline is read.
function changedBy(event: LedgerEvent, events: LedgerEvent[]): string[] {
  if (event.type !== "study-changed") return [];
  const earlier = events.filter(({ seq }) => seq < event.seq).sort((a, b) => b.seq - a.seq);
  const before = earlier.map(({ payload }) => read(payload).configuration).find(Boolean);
  const after = read(event.payload).configuration ?? {};
  if (!before) return [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

// The results that an event is about, each with the values that it gave them.
function resultsOf({ type, payload }: LedgerEvent): Said[] {
  if (!type.startsWith("observation")) return [];
  const said = read(payload);
  return said.observations ?? [said];
}

function ResultsOf({ event, results }: { event: LedgerEvent; results: Result[] }) {
  const { name, summary } = useFacts();
  const first = summary.quantities[0]?.name ?? "";
  const keys = new Map(results.map(({ observation, key }) => [observation, key]));
  const known = resultsOf(event).filter(({ observation, values }) => keys.has(observation ?? 0) && values);
  if (!known.length) return null;
  return (
    <p class="small measured-then">
      {known.slice(0, MOST_NAMED).map(({ observation, values = {} }) => (
        <span class="breakable" key={observation}>
          <KeyLink study={name} id={keys.get(observation ?? 0) ?? ""} />
          {` ${outcome({ value: values[first]?.value ?? null, values }, summary.quantities)}`}
        </span>
      ))}
      {known.length > MOST_NAMED && <span class="quiet">{`and ${count(known.length - MOST_NAMED)} more`}</span>}
    </p>
  );
}

const failuresOf = ({ type, payload }: Pick<LedgerEvent, "type" | "payload">) =>
  type === "measurements-failed" ? (read(payload).failures ?? []) : [];

// The candidates whose measurements failed, each reason once.
function Failures({ event }: { event: LedgerEvent }) {
  const { name } = useFacts();
  const failures = failuresOf(event);
  const reasons = [...new Set(failures.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const keys = failures.filter((failure) => failure.reason === reason).map(({ key }) => key);
    return (
      <p class="small measured-then" key={reason}>
        {keys.slice(0, MOST_NAMED).map((key) => (
          <span class="breakable" key={key}>
            <KeyLink study={name} id={key} />
          </span>
        ))}
        {keys.length > MOST_NAMED && <span class="quiet">{`and ${count(keys.length - MOST_NAMED)} more`}</span>}
        <span class="reason">{reason}</span>
      </p>
    );
  });
}

// What happened, as a link to the batch if it is about one.
function What({ event: { words, type, payload } }: { event: LedgerEvent }) {
  const { name } = useFacts();
  const said = words ?? typeWords(type);
  const failures = failuresOf({ type, payload });
  if (failures.length) return <b>{`${plural(failures.length, "measurement")} failed.`}</b>;
  if (type !== "batch-issued") return <b>{said}</b>;
  return (
    <b>
      <a href={`${studyPath(name, "batches")}?open=${read(payload).number}`}>{said}</a>
    </b>
  );
}

interface EntryProps {
  event: LedgerEvent;
  results: Result[];
  changed: string[];
  onFork: (() => void) | null;
  onTakeBack: (upload: number) => void;
}

function Entry({ event, results, changed, onFork, onTakeBack }: EntryProps) {
  const { recorded_at: time, type, actor, reason, seq, hash } = event;
  const upload = uploadOf(event);
  return (
    <li class={type}>
      <time class="quiet small number" dateTime={time} title={fullTime(time)}>
        {clockTime(time)}
      </time>
      <div>
        <p>
          <What event={event} />
          <span class="quiet small">{` by ${actorWords(actor)}`}</span>
        </p>
        <ResultsOf event={event} results={results} />
        <Failures event={event} />
        {changed.length > 0 && <p class="small">{`Changed: ${changed.join(", ").replaceAll("_", " ")}`}</p>}
        {reason && <p class="small reason">{`“${reason}”`}</p>}
        {upload !== null && (
          <button
            type="button"
            class="plain small take-back"
            aria-label={`Take back everything that was reported with event ${seq}`}
            onClick={() => onTakeBack(upload)}
          >
            Take all of it back
          </button>
        )}
      </div>
      {onFork && (
        <button
          type="button"
          class="plain small what-if"
          aria-label={`What if? Fork the study after event ${seq}`}
          title={`A new study that begins as this one was after event ${seq}`}
          onClick={onFork}
        >
          What if?
        </button>
      )}
      <span class="quiet small mono seq" title={`Fingerprint ${hash}`}>
        {`#${seq}`}
      </span>
    </li>
  );
}
