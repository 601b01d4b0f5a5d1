// Several studies side by side, for one of the quantities they measure: the best so far of each, result by result, or how
// their results are distributed.

import type { ComponentChildren } from "preact";
import { at, candidatePath, setSearch, studyPath, useAddress } from "../core/address.ts";
import { get, pages, studyApi } from "../core/api.ts";
import { count, number, plural, withUnit } from "../core/format.ts";
import { useRead, useTitle } from "../core/hooks.ts";
import { isSeveral } from "../core/quantities.ts";
import type { ObservationPage, Quantity, Study, StudyPage, Summary, Trace } from "../core/types.ts";
import { improvement, isBetter, mostToGain } from "../core/words.ts";
import { Swatch } from "../parts/chips.tsx";
import { Choices, Select } from "../parts/field.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { Headings } from "../parts/table.tsx";
import { CompareChart, type ComparedLine, DistributionChart } from "./compare_chart.tsx";

interface Compared {
  study: Study;
  summary: Summary;
  trace: Trace;
}

async function readAll(): Promise<Compared[]> {
  const all: Study[] = [];
  for await (const page of pages<StudyPage>(at("v1/studies"))) all.push(...page.studies);
  const read = all.map(async (study) => {
    const [summary, trace] = await Promise.all([
      get<Summary>(studyApi(study.name, "/summary")),
      get<Trace>(studyApi(study.name, "/trace")),
    ]);
    return { study, summary, trace };
  });
  return (await Promise.all(read)).filter(({ summary }) => summary.counts.observations > 0);
}

const VOLUME = "the front";
const titleOf = ({ name, unit }: Quantity) => withUnit(name, unit && `(${unit})`);
const measures = ({ summary }: Compared, wanted: string) =>
  wanted === VOLUME ? summary.front !== null : summary.quantities.some((quantity) => titleOf(quantity) === wanted);

// Everything that at least one study measures, what most of them do first; and the front, where there is one.
function choicesOf(all: Compared[]): string[] {
  const many = new Map<string, number>();
  for (const { summary } of all)
    for (const quantity of summary.quantities) many.set(titleOf(quantity), (many.get(titleOf(quantity)) ?? 0) + 1);
  const titles = [...many.keys()].sort((a, b) => (many.get(b) ?? 0) - (many.get(a) ?? 0));
  return all.some(({ summary }) => summary.front) ? [...titles, VOLUME] : titles;
}

const MOST_AT_FIRST = 4;
const SPREAD = "distribution";
const SHOWS: [string, string][] = [
  ["", "Best so far"],
  [SPREAD, "Distribution"],
];

const TIME = "time";
const LOG = "log";
const ACROSS: [string, string][] = [
  ["", "By result"],
  [TIME, "By time"],
];
const SCALES: [string, string][] = [
  ["", "Linear"],
  [LOG, "Log"],
];

function subtitleOf(spread: boolean, timed: boolean): string {
  if (spread) return "how many results lie at or below a value";
  return timed ? "since the first result of each" : "result by result";
}

function titleOfChart(wanted: string, spread: boolean): string {
  if (wanted === VOLUME) return "Volume under the front";
  return spread ? "Distribution of the results" : "Best so far";
}

export default function Compare() {
  const { search } = useAddress();
  const { data, error, reload } = useRead(readAll, []);
  useTitle("Compare");
  const choices = choicesOf(data ?? []);
  const wanted = choices.find((choice) => choice === search.get("quantity")) ?? choices[0] ?? "";
  const asked = search.getAll("study");
  const possible = (data ?? []).filter((compared) => measures(compared, wanted));
  const names = asked.length ? asked : possible.slice(-MOST_AT_FIRST).map(({ study }) => study.name);
  const chosen = possible.filter(({ study }) => names.includes(study.name));
  const key = chosen.map(({ study }) => study.name).join(" ");
  const spread = search.get("show") === SPREAD && wanted !== VOLUME;
  const timed = search.get("across") === TIME && !spread && wanted !== VOLUME;
  const readLine = timed ? timesOf : lineOf;
  const read = (compared: Compared) => (spread ? valuesOf : readLine)(compared, wanted);
  const facts = [data, wanted, key, spread, timed];
  const lines = useRead(data ? () => Promise.all(chosen.map(read)) : null, facts).data ?? [];
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading />;
  if (!data.length)
    return <Empty icon="chart" title="Nothing to compare yet" text="Studies appear here with their first result." />;
  const turn = (name: string, on: boolean) =>
    setSearch({ study: on ? [...names, name] : names.filter((other) => other !== name) });
  return (
    <div class="page">
      <div class="head">
        <h1>Compare studies</h1>
      </div>
      <ChartCard lines={lines} wanted={wanted} choices={choices} spread={spread} timed={timed} />
      <ComparedTable possible={possible} chosen={chosen} lines={lines} wanted={wanted} onTurn={turn}>
        {possible.length < data.length && (
          <p class="quiet small top">
            {`${plural(data.length - possible.length, "other study measures", "other studies measure")} something else.`}
          </p>
        )}
      </ComparedTable>
    </div>
  );
}

interface ChartCardProps {
  lines: ComparedLine[];
  wanted: string;
  choices: string[];
  spread: boolean;
  timed: boolean;
}

function ChartCard({ lines, wanted, choices, spread, timed }: ChartCardProps) {
  const { search } = useAddress();
  const positive = lines.every(({ points }) => points.every((value) => value > 0));
  const log = positive && search.get("scale") === LOG;
  return (
    <section class="card">
      <header>
        <h2>{titleOfChart(wanted, spread)}</h2>
        <span class="quiet small">{subtitleOf(spread, timed)}</span>
        <span class="push" />
        {wanted !== VOLUME && (
          <Choices
            label="Chart"
            options={SHOWS}
            value={spread ? SPREAD : ""}
            onChange={(show) => setSearch({ show: show || null })}
          />
        )}
        {!spread && wanted !== VOLUME && (
          <Choices
            label="Horizontal axis"
            options={ACROSS}
            value={timed ? TIME : ""}
            onChange={(across) => setSearch({ across })}
          />
        )}
        <Choices
          label={spread ? "Axis of the values" : "Vertical axis"}
          options={SCALES}
          value={log ? LOG : ""}
          disabled={positive ? {} : { [LOG]: "A logarithmic axis needs values above zero." }}
          onChange={(scale) => setSearch({ scale })}
        />
        {choices.length > 1 && (
          <Select
            label="Quantity"
            options={choices.map((choice): [string, string] => [choice, choice])}
            value={wanted}
            onChange={(quantity) => setSearch({ quantity, study: null })}
          />
        )}
      </header>
      {spread ? (
        <DistributionChart lines={lines} title={wanted} log={log} />
      ) : (
        <CompareChart lines={lines} title={wanted === VOLUME ? "volume under the front" : wanted} log={log} />
      )}
    </section>
  );
}

interface TableProps {
  possible: Compared[];
  chosen: Compared[];
  lines: ComparedLine[];
  wanted: string;
  onTurn: (name: string, on: boolean) => void;
  children: ComponentChildren;
}

function ComparedTable({ possible, chosen, lines, wanted, onTurn, children }: TableProps) {
  return (
    <section class="card">
      <div class="scroll" tabIndex={0} role="region" aria-label="Studies, scrollable">
        <table class="plain">
          <Headings titles={["Study", "Best", "Candidate", "Results", "Still to gain"]} />
          <tbody>
            {possible.map((compared) => (
              <Line
                {...compared}
                wanted={wanted}
                place={chosen.indexOf(compared)}
                line={lines.find(({ name }) => name === compared.study.name)}
                onTurn={onTurn}
                key={compared.study.name}
              />
            ))}
          </tbody>
        </table>
      </div>
      {children}
    </section>
  );
}

// How the quantity went in one study: from its trace for the first objective and the front, else from its results.
async function lineOf({ study, summary, trace }: Compared, wanted: string): Promise<ComparedLine> {
  const quantity = summary.quantities.find((other) => titleOf(other) === wanted);
  const line = { name: study.name, unit: quantity?.unit ?? "" };
  if (wanted === VOLUME) return { ...line, points: trace.hypervolume.map(({ hypervolume }) => hypervolume) };
  if (!quantity || quantity.name === summary.quantities[0]?.name) {
    const points = trace.progress.flatMap(({ best }) => best ?? []);
    return { ...line, points, before: trace.progress.length - points.length };
  }
  const points: number[] = [];
  for (const value of await readValues(study.name, quantity.name)) points.push(bestOf(points.at(-1), value, quantity));
  return { ...line, points };
}

// The best so far after each result, by the days since the first one.
async function timesOf({ study, summary }: Compared, wanted: string): Promise<ComparedLine> {
  const quantity = summary.quantities.find((other) => titleOf(other) === wanted);
  const line = { name: study.name, unit: quantity?.unit ?? "" };
  if (!quantity) return { ...line, points: [] };
  const results = (await readResults(study.name, quantity.name)).sort((a, b) => a.moment - b.moment);
  const points: number[] = [];
  for (const { value } of results) points.push(bestOf(points.at(-1), value, quantity));
  return { ...line, points, days: results.map(({ moment }) => (moment - (results[0]?.moment ?? 0)) / DAY) };
}

// All results of a quantity, smallest first.
async function valuesOf({ study, summary }: Compared, wanted: string): Promise<ComparedLine> {
  const quantity = summary.quantities.find((other) => titleOf(other) === wanted);
  const values = quantity ? await readValues(study.name, quantity.name) : [];
  return { name: study.name, unit: quantity?.unit ?? "", points: values.sort((a, b) => a - b) };
}

const DAY = 86_400_000;

interface Timed {
  value: number;
  moment: number; // milliseconds
}

async function readResults(study: string, quantity: string): Promise<Timed[]> {
  const found: Timed[] = [];
  for await (const page of pages<ObservationPage>(studyApi(study, "/observations"), 10_000))
    for (const { state, values, measured_at, recorded_at } of page.observations) {
      const value = state === "recorded" ? values[quantity]?.value : undefined;
      if (value !== undefined) found.push({ value, moment: Date.parse(measured_at ?? recorded_at) });
    }
  return found;
}

const readValues = async (study: string, quantity: string): Promise<number[]> =>
  (await readResults(study, quantity)).map(({ value }) => value);

const bestOf = (best: number | undefined, value: number, { direction }: Quantity): number =>
  best === undefined || isBetter({ direction: direction ?? "maximize" }, value, best) ? value : best;

// The best of the points of a line, whatever their order.
function extremeOf(points: number[], { quantities }: Summary, wanted: string): number | undefined {
  const quantity = quantities.find((other) => titleOf(other) === wanted);
  if (!quantity) return points.at(-1); // the volume under the front only grows
  return points.reduce<number | undefined>((best, value) => bestOf(best, value, quantity), undefined);
}

interface LineProps extends Compared {
  wanted: string;
  place: number; // among the lines that are drawn; −1: not drawn
  line: ComparedLine | undefined;
  onTurn: (name: string, on: boolean) => void;
}

function Line({ study, summary, wanted, place, line, onTurn }: LineProps) {
  const { best_observed: best, unit, counts } = summary;
  const most = mostToGain(summary);
  const several = isSeveral(summary);
  const isFirst = summary.quantities[0] !== undefined && titleOf(summary.quantities[0]) === wanted;
  const last = isFirst && best ? best.mean : line && extremeOf(line.points, summary, wanted);
  return (
    <tr>
      <td>
        <label class="check">
          <input
            type="checkbox"
            checked={place >= 0}
            aria-label={`Show ${study.name}`}
            onChange={(event) => onTurn(study.name, event.currentTarget.checked)}
          />
          <Swatch line={place < 0 ? "none" : place} />
          <a href={studyPath(study.name)}>{study.name}</a>
        </label>
      </td>
      <td class="number">{last === undefined ? "–" : withUnit(number(last), line?.unit ?? unit)}</td>
      <td>{!several && best && <a href={candidatePath(study.name, best.key)}>{best.key}</a>}</td>
      <td class="number">{count(counts.observations)}</td>
      <td class="number">{most !== null && !several ? improvement(most, unit) : "–"}</td>
    </tr>
  );
}
