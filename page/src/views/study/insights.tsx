// Insights: which columns matter, how the expectation runs along them, whether predictions can be trusted, and surprises.

import { useMemo, useState } from "preact/hooks";
import { setSearch, studyPath, useAddress } from "../../core/address.ts";
import { number, percent, plural } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import type { Column } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Empty, Failed, Loading } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import type { Believed } from "./believed.ts";
import { type Result, useFacts, useResults } from "./facts.ts";
import { CalibrationChart, ImportanceChart, ParallelChart, SliceChart } from "./insight_charts.tsx";
import { importances, readPredicted } from "./insight_data.ts";
import { TilesChart } from "./tiles_chart.tsx";

const FEWEST = 3;

export default function Insights() {
  const { name, summary } = useFacts();
  const enough = summary.counts.observations >= FEWEST;
  const results = useResults();
  const predicted = useRead(enough ? () => readPredicted(name, summary.counts.candidates) : null, [name, summary.seq]);
  if (!enough)
    return (
      <Empty
        icon="chart"
        title="Too few results"
        text={`Insights appear after ${FEWEST} results. So far there ${summary.counts.observations === 1 ? "is one" : `are ${summary.counts.observations}`}.`}
      />
    );
  const error = results.error ?? predicted.error;
  if (error && !(results.data && predicted.data)) return <Failed error={error} again={predicted.reload} />;
  if (!results.data || !predicted.data) return <Loading part />;
  return <Shown results={results.data} predicted={predicted.data} />;
}

function Shown({ results, predicted }: { results: Result[]; predicted: Believed[] }) {
  const { study } = useFacts();
  const shares = useMemo(() => importances(study.columns, predicted), [study.columns, predicted]);
  return (
    <div class="charts">
      <section class="card">
        <header>
          <h2>
            <Term name="importance">Which columns matter</Term>
          </h2>
        </header>
        <ImportanceChart shares={shares} onPick={(column) => setSearch({ slice: column.name })} />
        <p class="quiet small">Each column alone. Columns that only matter together are not seen here.</p>
      </section>
      <Slice columns={shares.map(({ column }) => column)} predicted={predicted} />
      <Calibration results={results} />
      <Surprises results={results} />
      <Parallel columns={shares.map(({ column }) => column)} predicted={predicted} />
    </div>
  );
}

function Slice({ columns, predicted }: { columns: Column[]; predicted: Believed[] }) {
  const { summary } = useFacts();
  const { search } = useAddress();
  const chosen = columns.find((column) => column.name === search.get("slice")) ?? columns[0];
  if (!chosen) return null;
  const others = columns.filter((column) => column !== chosen);
  const second = others.find((column) => column.name === search.get("by"));
  const named = (list: Column[]): [string, string][] => list.map((column) => [column.name, column.name]);
  return (
    <section class="card">
      <header>
        <h2>{`Expected ${summary.objective} by column`}</h2>
        <span class="push" />
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
      </header>
      {second ? (
        <TilesChart across={chosen} up={second} predicted={predicted} key={`${chosen.name} ${second.name}`} />
      ) : (
        <SliceChart column={chosen} predicted={predicted} key={chosen.name} />
      )}
      <p class="quiet small">
        {second
          ? "Colour: the average over candidates; the stronger, the better."
          : "Line: the average over candidates. Band: four of five candidates lie within it."}
      </p>
    </section>
  );
}

function Calibration({ results }: { results: Result[] }) {
  const known = results.flatMap((result) => {
    const why = result.suggested?.why;
    const { value } = result;
    return why && why.mean !== null && why.std && value !== null
      ? [{ result, value, mean: why.mean, std: why.std }]
      : [];
  });
  const within = (times: number) =>
    known.filter(({ value, mean, std }) => Math.abs(value - mean) <= times * std).length / known.length;
  return (
    <section class="card">
      <header>
        <h2>
          <Term name="calibration">Predicted against observed</Term>
        </h2>
      </header>
      <CalibrationChart known={known} />
      {known.length >= FEWEST && (
        <p class="quiet small">
          {`${percent(within(1))} of the results lay within the ± expected then (about 68 % is right), ${percent(within(2))} within twice that (about 95 % is right).`}
        </p>
      )}
    </section>
  );
}

function Surprises({ results }: { results: Result[] }) {
  const { name } = useFacts();
  const far = results
    .flatMap((result) => {
      const why = result.suggested?.why;
      const { value } = result;
      return why && why.mean !== null && why.std && value !== null
        ? [{ result, far: (value - why.mean) / why.std }]
        : [];
    })
    .filter((surprise) => Math.abs(surprise.far) > 2)
    .sort((a, b) => Math.abs(b.far) - Math.abs(a.far));
  return (
    <section class="card">
      <header>
        <h2>Surprises</h2>
        <span class="quiet small">far from what was expected then</span>
      </header>
      {!far.length && <p class="quiet">No result was far from what was expected.</p>}
      <ul class="measurements">
        {far.slice(0, 8).map(({ result, far: size }) => (
          <li key={result.observation}>
            <KeyLink study={name} id={result.key} />
            <b class="number">{number(result.value)}</b>
            <span class="quiet small">
              {`instead of ${number(result.suggested?.why.mean)} ± ${number(result.suggested?.why.std, 2)}: ${number(Math.abs(size), 2)} times the uncertainty ${size > 0 ? "higher" : "lower"}`}
            </span>
          </li>
        ))}
      </ul>
      {far.length > 0 && (
        <p>
          <a
            href={`${studyPath(name, "results")}?which=surprises&sort=-surprise`}
          >{`All ${plural(far.length, "surprise")}`}</a>
        </p>
      )}
    </section>
  );
}

function Parallel({ columns, predicted }: { columns: Column[]; predicted: Believed[] }) {
  const { name, summary } = useFacts();
  const [chosen, setChosen] = useState<number[] | null>(null);
  const shownColumns = innerWidth < 600 ? 3 : 8;
  const measured = predicted.filter(({ belief }) => (belief?.counts ?? 0) > 0);
  const shown = chosen?.map((position) => measured[position]).filter((candidate) => candidate !== undefined) ?? [];
  return (
    <section class="card wide">
      <header>
        <h2>Measured candidates, column by column</h2>
        <span class="quiet small">Drag along an axis to choose. The stronger the colour, the better.</span>
      </header>
      <ParallelChart columns={columns.slice(0, shownColumns)} measured={measured} onChoose={setChosen} />
      {columns.length > shownColumns && (
        <p class="quiet small">{`The ${shownColumns} columns that matter most, of ${columns.length}.`}</p>
      )}
      {chosen && (
        <>
          <h3>{`${plural(shown.length, "candidate")} chosen`}</h3>
          <ul class="key-list">
            {shown.slice(0, 100).map((candidate) => (
              <li key={candidate.key}>
                <KeyLink study={name} id={candidate.key} />
                <span class="quiet small number">{`${number(candidate.belief?.mean)} ${summary.unit}`}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
