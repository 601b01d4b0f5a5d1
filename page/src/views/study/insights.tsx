// Insights: which columns matter, how the expectation runs along them, whether predictions can be trusted, and surprises.

import { useMemo, useState } from "preact/hooks";
import { setSearch, studyPath, useAddress } from "../../core/address.ts";
import { query, studyApi } from "../../core/api.ts";
import { cell, count, plural, measured as spread } from "../../core/format.ts";
import { useGet, useRead } from "../../core/hooks.ts";
import { beliefOf, isSeveral, quantityOf } from "../../core/quantities.ts";
import type { Cell, Column, ColumnEffect, Diagnostics } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import type { Believed } from "./believed.ts";
import { FactsContext, type Result, useFacts, useResults } from "./facts.ts";
import { ImportanceChart, ParallelChart, SliceChart } from "./insight_charts.tsx";
import { type Importance, importances, type PredictedList, readPredicted } from "./insight_data.ts";
import { TilesChart } from "./tiles_chart.tsx";
import { Calibration, Predicted, Surprises } from "./trust.tsx";
import { EffectChart, type MeasuredAt } from "./trust_charts.tsx";

const FEWEST = 3;

export default function Insights() {
  const facts = useFacts();
  const { name, summary } = facts;
  const { search } = useAddress();
  const enough = summary.counts.observations >= FEWEST;
  const results = useResults();
  const predicted = useRead(enough ? () => readPredicted(name, summary.counts.candidates) : null, [name, summary.seq]);
  const quantity = quantityOf(summary, search.get("quantity"));
  const asked = query({ quantity: isSeveral(summary) ? quantity.name : "" });
  const diagnostics = useGet<Diagnostics>(enough ? studyApi(name, "/diagnostics") + asked : null, summary.seq);
  if (!enough)
    return (
      <Empty
        icon="chart"
        title="Too few results"
        text={`Insights appear after ${FEWEST} results. So far there ${summary.counts.observations === 1 ? "is one" : `are ${summary.counts.observations}`}.`}
      />
    );
  const error = results.error ?? predicted.error ?? diagnostics.error;
  if (error && !(results.data && predicted.data && diagnostics.data))
    return <Failed error={error} again={predicted.reload} />;
  if (!results.data || !predicted.data || !diagnostics.data) return <Loading part />;
  // Of several quantities, one at a time.
  const { name: objective, unit, direction } = quantity;
  const shared = { ...facts, summary: { ...summary, objective, unit, direction: direction ?? "maximize" } };
  const ofQuantity = (candidate: Believed) => ({ ...candidate, belief: beliefOf(candidate.belief, objective) });
  const { sample, measured, total } = predicted.data;
  const believed = { sample: sample.map(ofQuantity), measured: measured.map(ofQuantity), total };
  return (
    <FactsContext.Provider value={shared}>
      {isSeveral(summary) && (
        <div class="row tools">
          <Select
            label="Quantity"
            options={summary.quantities.map((other): [string, string] => [other.name, other.name])}
            value={objective}
            onChange={(value) => setSearch({ quantity: value })}
          />
        </div>
      )}
      <Shown results={results.data} predicted={believed} diagnostics={diagnostics.data} />
    </FactsContext.Provider>
  );
}

interface ShownProps {
  results: Result[];
  predicted: PredictedList;
  diagnostics: Diagnostics;
}

function Shown({ results, predicted, diagnostics }: ShownProps) {
  const { study } = useFacts();
  const [chosen, setChosen] = useState<Believed[] | null>(null);
  const shares = useMemo(
    () => sharesOf(study.columns, diagnostics) ?? importances(study.columns, predicted.sample),
    [study.columns, predicted, diagnostics],
  );
  const keys = useMemo(() => chosen && new Set(chosen.map(({ key }) => key)), [chosen]);
  const columns = shares.map(({ column }) => column);
  return (
    <div class="charts">
      <section class="card">
        <header>
          <h2>
            <Term name="importance">Which columns matter</Term>
          </h2>
        </header>
        <ImportanceChart shares={shares} onPick={(column) => setSearch({ slice: column.name })} />
        <p class="quiet small">
          {diagnostics.columns.length
            ? "How much the predictions change when a column's values are exchanged between candidates."
            : "Each column alone. Columns that only matter together are not seen here."}
          {!diagnostics.columns.length && <SampleNote of={predicted} />}
        </p>
      </section>
      <Slice columns={columns} predicted={predicted} results={results} diagnostics={diagnostics} />
      <Predicted results={results} diagnostics={diagnostics} chosen={keys} />
      {diagnostics.calibration.length > 0 && <Calibration points={diagnostics.calibration} />}
      <Surprises results={results} outliers={diagnostics.outliers} />
      <Parallel columns={columns} measured={predicted.measured} chosen={chosen} onChoose={setChosen} />
    </div>
  );
}

// What the server says of each column; nothing where it says nothing, as in theory mode.
function sharesOf(columns: Column[], { columns: effects }: Diagnostics): Importance[] | null {
  const found = effects.flatMap(({ name, importance }) => {
    const column = columns.find((other) => other.name === name);
    return column ? [{ column, share: Math.min(1, importance) }] : [];
  });
  return found.length ? found : null;
}

interface SampleProps {
  of: PredictedList;
}

// Said wherever an average is taken over only a part of a long list.
function SampleNote({ of: { sample, total } }: SampleProps) {
  if (sample.length >= total) return null;
  return <>{` Computed from a sample: ${count(sample.length)} of ${count(total)} candidates.`}</>;
}

interface SliceProps {
  columns: Column[];
  predicted: PredictedList;
  results: Result[];
  diagnostics: Diagnostics;
}

function Slice({ columns, predicted, results, diagnostics }: SliceProps) {
  const { summary } = useFacts();
  const { search } = useAddress();
  const chosen = columns.find((column) => column.name === search.get("slice")) ?? columns[0];
  if (!chosen) return null;
  const others = columns.filter((column) => column !== chosen);
  const second = others.find((column) => column.name === search.get("by"));
  const effect = diagnostics.columns.find(({ name }) => name === chosen.name);
  const named = (list: Column[]): [string, string][] => list.map((column) => [column.name, column.name]);
  return (
    <section class="card">
      <header>
        <h2>{`Expected ${summary.objective} by column`}</h2>
        <span class="push" />
        <span class="row pair-of-fields">
          <Select
            label="Column"
            hideLabel
            options={named(columns)}
            value={chosen.name}
            onChange={(slice) => setSearch({ slice })}
          />
          <Select
            label="Second column"
            hideLabel
            options={[["", "alone"], ...named(others)]}
            value={second?.name ?? ""}
            onChange={(by) => setSearch({ by })}
          />
        </span>
      </header>
      <SliceBody chosen={chosen} second={second} effect={effect} predicted={predicted} results={results} />
    </section>
  );
}

interface BodyProps {
  chosen: Column;
  second: Column | undefined;
  effect: ColumnEffect | undefined;
  predicted: PredictedList;
  results: Result[];
}

// Every result of the quantity, beside the value of its candidate in the column.
function measuredAt(column: string, measured: Believed[], results: Result[], quantity: string): MeasuredAt[] {
  const cells = new Map(measured.map(({ key, features }) => [key, features[column] as Cell | undefined]));
  return results.flatMap(({ key, values }) => {
    const at = cells.get(key);
    const value = values[quantity]?.value;
    return at == null || value === undefined ? [] : [{ key, at, value }];
  });
}

function SliceBody({ chosen, second, effect, predicted, results }: BodyProps) {
  const { name, summary } = useFacts();
  if (second)
    return (
      <>
        <TilesChart across={chosen} up={second} predicted={predicted.sample} key={`${chosen.name} ${second.name}`} />
        <p class="quiet small">
          Colour: the average over candidates; the stronger, the better.
          <SampleNote of={predicted} />
        </p>
      </>
    );
  if (effect)
    return (
      <>
        <EffectChart
          effect={effect}
          measured={measuredAt(chosen.name, predicted.measured, results, summary.objective)}
          key={chosen.name}
        />
        <p class="quiet small">
          {summary.certificate ? <KeyLink study={name} id={summary.certificate.key} /> : "The recommended candidate"}
          {` with other values of ${chosen.name}, all else the same. Band: where 95 of 100 true values lie. Dots: what was measured, all else different.`}
        </p>
      </>
    );
  return (
    <>
      <SliceChart column={chosen} predicted={predicted.sample} key={chosen.name} />
      <p class="quiet small">
        Line: the average over candidates. Band: four of five candidates lie within it.
        <SampleNote of={predicted} />
      </p>
    </>
  );
}

interface ParallelProps {
  columns: Column[];
  measured: Believed[];
  chosen: Believed[] | null;
  onChoose: (chosen: Believed[] | null) => void;
}

const MOST_MARKED = 100;

function Parallel({ columns, measured, chosen, onChoose }: ParallelProps) {
  const { name, summary } = useFacts();
  const shownColumns = innerWidth < 600 ? 3 : 8;
  const choose = (positions: number[] | null) =>
    onChoose(positions?.flatMap((position) => measured[position] ?? []) ?? null);
  const marked = (chosen ?? []).slice(0, MOST_MARKED).map(({ key }) => key);
  return (
    <section class="card wide">
      <header>
        <h2>Measured candidates, column by column</h2>
        <span class="quiet small">
          {`${plural(measured.length, "candidate")}. Drag along an axis to choose. The stronger the colour, the better.`}
        </span>
      </header>
      <ParallelChart columns={columns.slice(0, shownColumns)} measured={measured} onChoose={choose} />
      {columns.length > shownColumns && (
        <p class="quiet small">{`The ${shownColumns} columns that matter most, of ${columns.length}.`}</p>
      )}
      {chosen && (
        <>
          <div class="row">
            <h3>{`${plural(chosen.length, "candidate")} chosen`}</h3>
            <span class="push" />
            <a class="button small" href={studyPath(name, "map") + query({ mark: marked })}>
              Show on the map
            </a>
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label="Chosen candidates, scrollable">
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">Candidate</th>
                  <th scope="col">{`Expected ${summary.objective}`}</th>
                  {columns.map((column) => (
                    <th scope="col" key={column.name}>
                      {column.name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {chosen.slice(0, MOST_MARKED).map(({ key, belief, features }) => (
                  <tr key={key}>
                    <td>
                      <KeyLink study={name} id={key} />
                    </td>
                    <td class="number nowrap">{belief ? spread(belief.mean, belief.std, summary.unit) : "–"}</td>
                    {columns.map((column) => (
                      <td class="number" key={column.name}>
                        {cell(features[column.name])}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {chosen.length > MOST_MARKED && <p class="quiet small">{`The first ${MOST_MARKED} of them.`}</p>}
        </>
      )}
    </section>
  );
}
