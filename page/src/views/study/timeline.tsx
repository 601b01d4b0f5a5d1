// The ledger as a timeline: what happened, who did it and why, newest first.

import { useEffect, useState } from "preact/hooks";
import { get, studyApi } from "../../core/api.ts";
import { fullTime, shortTime } from "../../core/format.ts";
import { may } from "../../core/session.ts";
import type { EventPage, LedgerEvent } from "../../core/types.ts";
import { actorWords, isNamed, learnNames, typeWords } from "../../core/words.ts";
import { Failed, Loading } from "../../parts/states.tsx";
import { openFork } from "../asking.tsx";
import { askToTakeBackUpload, uploadOf } from "../correcting.tsx";
import { useFacts } from "./facts.ts";

const PAGE = 60;

export default function Timeline() {
  const { name, study, summary, onEvent, look } = useFacts();
  const [events, setEvents] = useState<LedgerEvent[] | null>(null);
  const [earliest, setEarliest] = useState(summary.seq + 1);
  const [error, setError] = useState<unknown>(null);
  const [find, setFind] = useState("");

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
  const shown = events.filter((event) => textOf(event).includes(find.toLowerCase()));
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
        {find && (
          <span
            class="quiet small"
            role="status"
          >{`${shown.length} of the ${events.length} entries shown so far`}</span>
        )}
      </div>
      <ol class="timeline">
        {shown.map((event) => (
          <Entry
            event={event}
            key={event.seq}
            onFork={may("manage") ? () => openFork(study, event.seq) : null}
            onTakeBack={(upload) => askToTakeBackUpload(name, upload, look)}
          />
        ))}
      </ol>
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

interface EntryProps {
  event: LedgerEvent;
  onFork: (() => void) | null;
  onTakeBack: (upload: number) => void;
}

function Entry({ event, onFork, onTakeBack }: EntryProps) {
  const { recorded_at: time, words, type, actor, reason, seq, hash } = event;
  const upload = uploadOf(event);
  return (
    <li class={type}>
      <time class="quiet small number" dateTime={time} title={fullTime(time)}>
        {shortTime(time)}
      </time>
      <div>
        <p>
          <b>{words ?? typeWords(type)}</b>
          <span class="quiet small">{` by ${actorWords(actor)}`}</span>
        </p>
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
