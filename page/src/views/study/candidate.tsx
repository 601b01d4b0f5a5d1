// One candidate: conditions, measurements, what is expected and why, its neighbours, and what one can do with it.

import { useLayoutEffect, useRef } from "preact/hooks";
import { candidatePath, studyPath } from "../../core/address.ts";
import { get, studyApi } from "../../core/api.ts";
import { cell, measured, number, outcome, percent, shortTime, withUnit } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import { beliefOf, constraintsOn, constraintWords, isCorrected, isSeveral } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Bench, Candidate, Cell, Prediction, Quantity, Reservation, Suggestion } from "../../core/types.ts";
import { actorWords, batchOf, expectedWords, purposeWords, stateWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/states.tsx";
import { Structures } from "../../parts/structure.tsx";
import { Term } from "../../parts/term.tsx";
import { correctResult, mayCorrect } from "../correcting.tsx";
import { addResult } from "./add_result.tsx";
import { readBelieved } from "./believed.ts";
import { Switch } from "./candidate_columns.tsx";
import { type Facts, type Result, readResults, useFacts } from "./facts.ts";
import { type Neighbour, neighboursOf } from "./neighbours.ts";
import { mayReserve, readReservations, release, reserve } from "./reserving.tsx";

interface Known {
  candidate: Candidate;
  reservation: Reservation | null;
  belief: Prediction | null;
  results: Result[];
  suggestions: Suggestion[];
  neighbours: Neighbour[];
}

const STATES = ["pending", "observed", "failed", "abandoned"];

async function readCandidate({ name, study, summary }: Facts, key: string): Promise<Known> {
  const [candidate, all, reservations, ...benches] = await Promise.all([
    readBelieved(name, key),
    readResults(name),
    summary.counts.reserved ? readReservations(name) : [],
    ...STATES.map((state) => get<Bench>(`${studyApi(name, "/suggestions")}?state=${state}`)),
  ]);
  const suggestions = benches.flatMap((bench) => bench.suggestions).filter((suggestion) => suggestion.key === key);
  suggestions.sort((a, b) => (batchOf(b.suggestion) ?? 0) - (batchOf(a.suggestion) ?? 0));
  return {
    candidate,
    reservation: reservations.find((reservation) => reservation.key === key) ?? null,
    belief: summary.counts.observations ? candidate.belief : null,
    results: all.filter((result) => result.key === key),
    suggestions,
    neighbours: await neighboursOf(name, study.columns, candidate, suggestions[0] ?? null, all),
  };
}

export function CandidatePage({ id }: { id: string }) {
  const { name } = useFacts();
  return (
    <>
      <p>
        <a href={studyPath(name, "candidates")}>All candidates</a>
      </p>
      <section class="card candidate">
        <Details id={id} />
      </section>
    </>
  );
}

export function CandidateDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { name } = useFacts();
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    box.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) onClose();
    };
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("keydown", onKey);
      if (opener?.isConnected) opener.focus();
    };
    // Once for each candidate.
  }, []);
  return (
    <section class="drawer candidate" ref={box} tabIndex={-1} aria-label={`Candidate ${id}`}>
      <div class="row drawer-tools">
        <a class="button small plain" href={candidatePath(name, id)}>
          Open as a page
        </a>
        <span class="push" />
        <button type="button" class="plain icon" aria-label="Close" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <Details id={id} />
    </section>
  );
}

function Details({ id }: { id: string }) {
  const facts = useFacts();
  const { data, error, reload } = useRead(() => readCandidate(facts, id), [facts.name, id, facts.summary.seq]);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  const { candidate, reservation, belief, results, suggestions, neighbours } = data;
  const changed = async () => {
    await facts.look();
    reload();
  };
  const pending = suggestions.find((suggestion) => suggestion.state === "pending");
  return (
    <>
      <div class="row">
        <h2 class="key">{candidate.key}</h2>
        {!candidate.available && (
          <span class="chip">{`unavailable${candidate.reason ? `: ${candidate.reason}` : ""}`}</span>
        )}
        {results.length > 0 && <span class="chip accent">measured</span>}
        {pending && <span class="chip warn">{`on a bench, batch ${batchOf(pending.suggestion)}`}</span>}
        {reservation && (
          <span class="chip warn">{`reserved for ${reservation.worker}${reservation.reason ? `: ${reservation.reason}` : ""}`}</span>
        )}
      </div>
      <Structures
        study={facts.name}
        columns={facts.study.columns}
        id={candidate.key}
        cells={candidate.features as Record<string, Cell>}
      />
      <Conditions candidate={candidate} facts={facts} />
      <Expectation belief={belief} facts={facts} />
      <Measurements results={results} facts={facts} changed={changed} />
      <Why suggestion={suggestions[0]} neighbours={neighbours} facts={facts} />
      <div class="row candidate-foot">
        {may("report") && facts.study.state !== "archived" && (
          <button type="button" class="primary" onClick={() => addResult(facts, candidate.key, pending, changed)}>
            <Icon name="plus" size={16} />
            Add a result
          </button>
        )}
        {mayReserve(facts) &&
          (reservation ? (
            <button type="button" onClick={() => release(facts, candidate.key, changed)}>
              Release
            </button>
          ) : (
            candidate.available &&
            !pending && (
              <button type="button" onClick={() => reserve(facts, candidate.key, changed)}>
                Reserve
              </button>
            )
          ))}
        {may("manage") && facts.study.state !== "archived" && (
          <Switch study={facts.name} candidate={candidate} onChange={changed} words />
        )}
      </div>
    </>
  );
}

function Conditions({ candidate, facts }: { candidate: Candidate; facts: Facts }) {
  const cells = { ...candidate.features, ...candidate.attributes };
  const columns = facts.study.columns.filter((column) => column.role !== "key");
  return (
    <dl class="conditions">
      {columns.map(({ name, role }) => (
        <div key={name}>
          <dt>
            {name}
            {role === "attribute" && " (only shown)"}
          </dt>
          <dd class="number">{cell(cells[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

function Expectation({ belief, facts }: { belief: Prediction | null; facts: Facts }) {
  if (!belief || !facts.summary.counts.observations)
    return <p class="quiet">Nothing can be expected yet: no results.</p>;
  const { best_observed: best, quantities, unit, objective } = facts.summary;
  if (isSeveral(facts.summary)) return <SeveralExpected belief={belief} quantities={quantities} facts={facts} />;
  return (
    <section>
      <h3>
        <Term name="expected">{`Expected ${objective}`}</Term>
      </h3>
      <p class="big number">{measured(belief.mean, belief.std, unit)}</p>
      <p class="quiet small">
        {`Plausible: ${number(belief.lower, 3)} to ${withUnit(number(belief.upper, 3), unit)}.`}
        {best && ` The best measured so far is ${withUnit(number(best.mean), unit)}.`}
      </p>
    </section>
  );
}

interface SeveralProps {
  belief: Prediction;
  quantities: Quantity[];
  facts: Facts;
}

function SeveralExpected({ belief, quantities, facts }: SeveralProps) {
  return (
    <section>
      <h3>
        <Term name="expected">Expected</Term>
      </h3>
      <dl class="expectations">
        {quantities.map((quantity) => {
          const known = beliefOf(belief, quantity.name);
          const wanted = constraintsOn(facts.study, quantity.name).map((it) => constraintWords(it, quantity.unit));
          return (
            <div key={quantity.name}>
              <dt>
                {quantity.name}
                {wanted.length > 0 && <span class="quiet small">{` ${wanted.join(" and ")}`}</span>}
              </dt>
              <dd class="number">{known ? measured(known.mean, known.std, quantity.unit) : "–"}</dd>
            </div>
          );
        })}
      </dl>
      <p class="quiet small">
        {belief.feasible !== null && `${percent(belief.feasible)} chance that it is good enough. `}
        {belief.on_front !== null &&
          (belief.on_front ? "It can still be on the front." : "It is no longer expected on the front.")}
      </p>
    </section>
  );
}

interface MeasurementsProps {
  results: Result[];
  facts: Facts;
  changed: () => Promise<void>;
}

function Measurements({ results, facts: { name, summary }, changed }: MeasurementsProps) {
  return (
    <section>
      <h3>Measurements</h3>
      {!results.length && <p class="quiet">Not measured yet.</p>}
      <ul class="measurements">
        {results.map((result) => (
          <li key={result.observation}>
            <b class="number">{outcome(result, summary.quantities)}</b>
            <span class="quiet small">
              {`${shortTime(result.measured_at ?? result.recorded_at)}, ${result.measured_by ?? actorWords(result.actor)}`}
              {result.batch && `, batch ${result.batch}`}
              {isCorrected(result) && `, corrected: ${result.reason}`}
              {result.note && ` · ${result.note}`}
            </span>
            {mayCorrect(result) && (
              <button
                type="button"
                class="plain small"
                aria-label={`Correct result ${result.observation}`}
                onClick={() => correctResult(name, result, summary.quantities, changed)}
              >
                Correct
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface WhyProps {
  suggestion: Suggestion | undefined;
  neighbours: Neighbour[];
  facts: Facts;
}

function Why({ suggestion, neighbours, facts: { name, summary } }: WhyProps) {
  if (!suggestion && !neighbours.length) return null;
  const why = suggestion?.why;
  return (
    <section>
      <h3>{suggestion ? "Why it was suggested" : "Similar candidates that were measured"}</h3>
      {suggestion && why && (
        <p>
          {purposeWords(why.words)}
          {why.mean !== null && ` Expected then: ${expectedWords(why, summary)}.`}
          <span class="quiet small">{` Batch ${batchOf(suggestion.suggestion)}, ${stateWords(suggestion.state)}.`}</span>
        </p>
      )}
      <ul class="neighbours">
        {neighbours.map(({ key, value, words, similarity }) => (
          <li key={key}>
            {"Like "}
            <KeyLink study={name} id={key} />
            {` (${withUnit(number(value), summary.unit)}): ${words}`}
            {similarity !== null && (
              <span class="quiet small">
                {" · "}
                <Term name="similarity">{`${percent(similarity)} alike`}</Term>
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
