// Several objectives: the possible compromises as a chart and a table that point at each other.

import type { EChartsType } from "echarts/core";
import { useMemo, useRef, useState } from "preact/hooks";
import { Chart, type Stop } from "../../charts/chart.tsx";
import { setSearch, useAddress } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { measured, number, percent, plural } from "../../core/format.ts";
import { useGet } from "../../core/hooks.ts";
import { directionWords, objectivesOf } from "../../core/quantities.ts";
import type { Bench, Front, FrontPoint, Quantity } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { Select } from "../../parts/field.tsx";
import { Term } from "../../parts/term.tsx";
import { useFacts, useResults } from "./facts.ts";
import { type Dot, dotsOf, frontOption, GROUPS, volumeOption, wordsOf } from "./front_option.ts";

export function FrontCard({ front }: { front: Front }) {
  const { name, study, summary } = useFacts();
  const { search } = useAddress();
  const results = useResults().data;
  const pending = useGet<Bench>(studyApi(name, "/suggestions"), summary.seq).data;
  const [pointed, setPointed] = useState<string | null>(null);
  const chart = useRef<EChartsType | null>(null);
  const { quantities } = summary;
  const across = chosen(quantities, search.get("across")) ?? quantities[0];
  const up =
    chosen(quantities, search.get("up"), across) ?? quantities.find((quantity) => quantity !== across) ?? across;
  const dots = useMemo(
    () => dotsOf(study, front, results ?? [], pending?.suggestions ?? []),
    [study, front, results, pending],
  );
  if (!across || !up) return null;
  const shown = dots.filter(({ values }) => across.name in values && up.name in values);
  const groups = GROUPS.map(({ group }) => shown.filter((dot) => dot.group === group));
  const stops: Stop[] = groups.flatMap((group, series) =>
    group.map((dot, index) => ({ series, index, words: wordsOf(dot, quantities).join(", "), pick: () => open(dot) })),
  );
  const open = ({ key }: Dot) => setSearch({ candidate: key });
  const point = (key: string | null) => {
    setPointed(key);
    const type = key === null ? "downplay" : "highlight";
    groups.forEach((group, seriesIndex) => {
      const dataIndex = group.flatMap((dot, index) => (key === null || dot.key === key ? [index] : []));
      if (dataIndex.length) chart.current?.dispatchAction({ type, seriesIndex, dataIndex });
    });
  };
  const onReady = (made: EChartsType) => {
    chart.current = made;
    made.on("mouseover", ({ data }) => setPointed((data as { key?: string } | undefined)?.key ?? null));
    made.on("mouseout", () => setPointed(null));
  };
  const names = (list: Quantity[]): [string, string][] => list.map((quantity) => [quantity.name, quantity.name]);
  return (
    <section class="card wide">
      <header>
        <h2>{objectivesOf(summary).length > 1 ? <Term name="front">The front</Term> : "What is good enough"}</h2>
        <span class="quiet small">{`${across.name}: ${directionWords(across)}; ${up.name}: ${directionWords(up)}`}</span>
        <span class="push" />
        {quantities.length > 2 && (
          <span class="row no-wall">
            <Select
              label="Horizontal"
              options={names(quantities)}
              value={across.name}
              onChange={(value) => setSearch({ across: value })}
            />
            <Select
              label="Vertical"
              options={names(quantities.filter((quantity) => quantity !== across))}
              value={up.name}
              onChange={(value) => setSearch({ up: value })}
            />
          </span>
        )}
      </header>
      <Chart
        title="The front of the objectives"
        height="tall"
        zoom
        facts={[shown, across, up]}
        stops={stops}
        empty={shown.length ? undefined : "The first result will appear here."}
        picture={`${name}-front`}
        onReady={onReady}
        onPick={({ seriesIndex, dataIndex }) => {
          const dot = groups[seriesIndex]?.[dataIndex];
          if (dot) open(dot);
        }}
        option={(theme) => frontOption(theme, groups, { across, up, study, quantities })}
      />
      <Legend groups={groups} />
      <FrontTable front={front} pointed={pointed} onPoint={point} />
    </section>
  );
}

const chosen = (quantities: Quantity[], name: string | null, except?: Quantity) =>
  quantities.find((quantity) => quantity.name === name && quantity !== except);

function Legend({ groups }: { groups: Dot[][] }) {
  return (
    <ul class="legend-list">
      {GROUPS.map(
        ({ group, words }, position) =>
          (groups[position]?.length ?? 0) > 0 && (
            <li key={group}>
              <span class={`dot-mark ${group}`} />
              {`${words} (${groups[position]?.length})`}
            </li>
          ),
      )}
    </ul>
  );
}

interface TableProps {
  front: Front;
  pointed: string | null;
  onPoint: (key: string | null) => void;
}

const SHOWN = 5;

function FrontTable({ front, pointed, onPoint }: TableProps) {
  const [all, setAll] = useState(false);
  const { summary } = useFacts();
  const [main] = summary.quantities;
  const byMain = (a: FrontPoint, b: FrontPoint) =>
    (b.values[main?.name ?? ""] ?? 0) - (a.values[main?.name ?? ""] ?? 0);
  const measuredKeys = new Set(front.measured.map(({ key }) => key));
  const expected = front.expected
    .filter(({ key }) => !measuredKeys.has(key))
    .sort((a, b) => (b.chance ?? 0) - (a.chance ?? 0));
  const rows = [
    ...[...front.measured].sort(byMain).map((point) => ({ point, kind: "measured" })),
    ...expected.map((point) => ({ point, kind: "expected" })),
  ];
  if (!rows.length) return null;
  const shown = all
    ? rows
    : [
        ...rows.filter(({ kind }) => kind === "measured"),
        ...rows.filter(({ kind }) => kind === "expected").slice(0, SHOWN),
      ];
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Candidates of the front, scrollable">
        <table class="plain front-table">
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col">State</th>
              {summary.quantities.map(({ name, unit }) => (
                <th scope="col" class="right" key={name}>
                  {unit ? `${name} (${unit})` : name}
                </th>
              ))}
              <th scope="col" class="right">
                {objectivesOf(summary).length > 1 ? "Chance of being on the front" : "Chance of being the best"}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ point, kind }) => (
              <FrontRow point={point} kind={kind} pointed={pointed === point.key} onPoint={onPoint} key={point.key} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.length && (
        <button type="button" class="small" onClick={() => setAll(true)}>
          {`Show ${plural(rows.length - shown.length, "more candidate")}`}
        </button>
      )}
    </>
  );
}

interface RowProps {
  point: FrontPoint;
  kind: string;
  pointed: boolean;
  onPoint: (key: string | null) => void;
}

function FrontRow({ point, kind, pointed, onPoint }: RowProps) {
  const { name, summary } = useFacts();
  const leave = () => onPoint(null);
  return (
    <tr
      class={pointed ? "pointed" : ""}
      onMouseEnter={() => onPoint(point.key)}
      onMouseLeave={leave}
      onFocusCapture={() => onPoint(point.key)}
      onBlurCapture={leave}
    >
      <td>
        <KeyLink study={name} id={point.key} />
      </td>
      <td>
        <span class={`chip ${kind === "measured" ? "accent" : ""}`}>{kind}</span>
      </td>
      {summary.quantities.map(({ name: quantity }) => (
        <td class="right number" key={quantity}>
          {quantity in point.values ? measured(point.values[quantity] ?? 0, point.std[quantity]) : "–"}
        </td>
      ))}
      <td class="right number">{point.chance === null ? "–" : percent(point.chance)}</td>
    </tr>
  );
}

export function HypervolumeChart() {
  const { name, summary, trace } = useFacts();
  const points = trace.hypervolume;
  const unit = objectivesOf(summary)
    .map((objective) => objective.unit)
    .filter(Boolean)
    .join(" × ");
  const words = (index: number) => [
    `${number(points[index]?.hypervolume)} covered`,
    `after result ${points[index]?.observation}`,
  ];
  return (
    <Chart
      title="Volume under the front"
      empty={points.length ? undefined : "Appears when a candidate with all its values is good enough."}
      facts={[trace]}
      stops={points.map((_, index) => ({ series: 0, index, words: words(index).join(" ") }))}
      picture={`${name}-hypervolume`}
      option={(theme) => volumeOption(theme, { points, unit, words })}
    />
  );
}
