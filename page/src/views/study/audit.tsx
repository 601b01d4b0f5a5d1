// The audit: whether the history is intact, whether batches can be computed again, and the model behind each of them.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { explain, get, query, send, studyApi } from "../../core/api.ts";
import { count, fullTime, number, plural } from "../../core/format.ts";
import { useGet, useRead } from "../../core/hooks.ts";
import { isSeveral } from "../../core/quantities.ts";
import type { BatchBrief, Diagnostics, EventPage, LedgerEvent, Replayed } from "../../core/types.ts";
import { actorWords, learnNames } from "../../core/words.ts";
import { Failed, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { ModelChart } from "./batch_charts.tsx";
import { Verify } from "./batches.tsx";
import { useFacts } from "./facts.ts";

export default function Audit() {
  const { trace } = useFacts();
  return (
    <div class="charts">
      <History />
      {trace.batches.length > 0 && <Recomputed batches={trace.batches} />}
      {trace.batches.length > 0 && <Model batches={trace.batches} />}
      <Lengthscales />
      <Ledger />
    </div>
  );
}

function History() {
  const { name, summary, study } = useFacts();
  const { data } = useRead(() => newest(name, summary.seq), [name, summary.seq]);
  const fork = study.forked_from;
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="history">The history</Term>
        </h2>
      </header>
      <p class="quiet">
        {`${plural(summary.seq, "event")}, each with a fingerprint that covers all events before it. Changing one afterwards would change all later fingerprints.`}
      </p>
      <dl class="facts top">
        <dt>Newest fingerprint</dt>
        <dd class="mono breakable">{data?.hash ?? "…"}</dd>
        {fork && (
          <>
            <dt>Forked from</dt>
            <dd>{`${fork.study}, after event ${fork.at}`}</dd>
          </>
        )}
        {study.origin && (
          <>
            <dt>Came from</dt>
            <dd>{study.origin}</dd>
          </>
        )}
      </dl>
      <div class="row top">
        <Verify name={name} />
      </div>
    </section>
  );
}

async function newest(name: string, seq: number): Promise<LedgerEvent | null> {
  const page = await get<EventPage>(`${studyApi(name, "/events")}?after=${Math.max(0, seq - 1)}&limit=1`);
  return page.events[0] ?? null;
}

interface Replays {
  done: number;
  differing: string[];
}

// All batches, one after the other: each must come out as it was issued.
function Recomputed({ batches }: { batches: BatchBrief[] }) {
  const { name } = useFacts();
  const [replays, setReplays] = useState<Replays | null>(null);
  const [error, setError] = useState<unknown>(null);
  const busy = replays !== null && replays.done < batches.length && !error;
  const run = async () => {
    const differing: string[] = [];
    setError(null);
    setReplays({ done: 0, differing });
    try {
      for (const [position, batch] of batches.entries()) {
        const answer: Replayed = await (await send("POST", studyApi(name, `/batches/${batch.number}/replay`))).json();
        if (!answer.equal) differing.push(`Batch ${batch.number}: ${answer.differences.join(", ")}`);
        setReplays({ done: position + 1, differing });
      }
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="replay">Computed again</Term>
        </h2>
      </header>
      <p class="quiet">
        Every batch follows from the events before it. Computing it again must give the same candidates, bit for bit.
      </p>
      <p class="top" role="status">
        {replays && !error && verdictOf(replays, batches.length)}
      </p>
      {replays && replays.differing.length > 0 && (
        <ul class="note warn">
          {replays.differing.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      )}
      {error !== null && (
        <p class="note bad" role="alert">
          {explain(error)}
        </p>
      )}
      <div class="row top">
        <button type="button" class="small" disabled={busy} onClick={run}>
          {`Compute ${batches.length === 1 ? "the batch" : `all ${batches.length} batches`} again`}
        </button>
      </div>
    </section>
  );
}

function verdictOf({ done, differing }: Replays, all: number): string {
  if (done < all) return `${done} of ${all} computed …`;
  if (!differing.length) return all === 1 ? "The batch is identical." : `All ${all} batches are identical.`;
  return `${plural(differing.length, "batch differs", "batches differ")}; see below.`;
}

function Model({ batches }: { batches: BatchBrief[] }) {
  const last = batches.at(-1);
  return (
    <section class="card wide">
      <header>
        <h2>The model behind each batch</h2>
      </header>
      <p class="quiet small">
        The model is built on <Term name="reference">reference points</Term>. The{" "}
        <Term name="dimension">effective dimension</Term> grows as the results explore new directions.
      </p>
      <ModelChart />
      {last && (
        <dl class="facts top">
          <dt>Reference points now</dt>
          <dd class="number">{count(last.dictionary)}</dd>
          <dt>Effective dimension now</dt>
          <dd class="number">{number(last.effective_dimension, 3)}</dd>
          <dt>Computed by</dt>
          <dd class="mono breakable">{last.build}</dd>
        </dl>
      )}
    </section>
  );
}

// What the model has learnt of each column: over which distance results stay alike.
function Lengthscales() {
  const { name, summary } = useFacts();
  const asked = query({ quantity: isSeveral(summary) ? summary.objective : "" });
  const known = summary.counts.observations > 0;
  const { data } = useGet<Diagnostics>(known ? studyApi(name, "/diagnostics") + asked : null, summary.seq);
  if (!data?.columns.length) return null;
  return (
    <section class="card wide">
      <header>
        <h2>
          <Term name="lengthscale">How far results stay alike</Term>
        </h2>
        <span class="quiet small">The lengthscales of the model; the whole range of a column is 1.</span>
      </header>
      <dl class="facts">
        {data.columns.map(({ name: column, lengthscales }) => (
          <Fragment key={column}>
            <dt>{column}</dt>
            <dd class="number">
              {Object.entries(lengthscales)
                .map(([level, scale]) => (level === column ? number(scale, 2) : `${level} ${number(scale, 2)}`))
                .join(", ") || "–"}
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

const PAGE = 25;

async function readNamed(path: string): Promise<EventPage> {
  const page = await get<EventPage>(path);
  learnNames(page.actors);
  return page;
}

// Every event as it is stored: what was hashed, and the hash.
function Ledger() {
  const { name, summary } = useFacts();
  const [end, setEnd] = useState<number | null>(null);
  const last = end ?? summary.seq;
  const after = Math.max(0, last - PAGE);
  const path = `${studyApi(name, "/events")}?after=${after}&limit=${last - after}`;
  const { data, error, reload } = useRead(() => readNamed(path), [path]);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  return (
    <section class="card wide">
      <header>
        <h2>Events as they are stored</h2>
        <span class="quiet small">{`${count(after + 1)} to ${count(last)} of ${count(summary.seq)}, newest first`}</span>
      </header>
      <div class="stored">
        {[...data.events].reverse().map((event) => (
          <Stored event={event} key={event.seq} />
        ))}
      </div>
      <div class="row top">
        <button type="button" class="small" disabled={after === 0} onClick={() => setEnd(after)}>
          Earlier
        </button>
        <button
          type="button"
          class="small"
          disabled={last >= summary.seq}
          onClick={() => setEnd(last + PAGE >= summary.seq ? null : last + PAGE)}
        >
          Later
        </button>
        <a class="button small" href={studyApi(name, "/archive")} download={`${name}.zip`}>
          Download everything
        </a>
      </div>
    </section>
  );
}

function Stored({ event }: { event: LedgerEvent }) {
  return (
    <details>
      <summary>
        <span class="mono small">{`#${event.seq}`}</span>
        <span>{event.words}</span>
        <span class="mono small quiet push-end">{event.hash.slice(0, 12)}</span>
      </summary>
      <dl class="facts">
        <dt>When and who</dt>
        <dd>{`${fullTime(event.recorded_at)}, ${actorWords(event.actor)}`}</dd>
        {event.reason && (
          <>
            <dt>Reason</dt>
            <dd>{event.reason}</dd>
          </>
        )}
        <dt>Fingerprint</dt>
        <dd class="mono breakable">{event.hash}</dd>
        <dt>Of the event before</dt>
        <dd class="mono breakable">{event.previous}</dd>
        <dt>What was stored</dt>
        <dd class="mono breakable payload">{event.payload}</dd>
      </dl>
    </details>
  );
}
