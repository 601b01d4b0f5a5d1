// Several studies side by side: the best so far of each, result by result.

import { Chart } from "../charts/chart.tsx";
import { axis, frame, type Theme, tip } from "../charts/theme.ts";
import { at, setSearch, studyPath, useAddress } from "../core/address.ts";
import { get, pages, studyApi } from "../core/api.ts";
import { count, number, withUnit } from "../core/format.ts";
import { useRead, useTitle } from "../core/hooks.ts";
import type { Study, StudyPage, Summary, Trace } from "../core/types.ts";
import { improvement } from "../core/words.ts";
import { Empty, Failed, Loading } from "../parts/states.tsx";

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
  return (await Promise.all(read)).filter(({ trace }) => trace.progress.length > 0);
}

const MOST_AT_FIRST = 4;
const DASHES = ["solid", "dashed", "dotted"];

export default function Compare() {
  const { search } = useAddress();
  const { data, error, reload } = useRead(readAll, []);
  useTitle("Compare");
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading />;
  if (!data.length)
    return <Empty icon="chart" title="Nothing to compare yet" text="Studies appear here with their first result." />;
  const asked = search.getAll("study");
  const names = asked.length ? asked : data.slice(-MOST_AT_FIRST).map(({ study }) => study.name);
  const chosen = data.filter(({ study }) => names.includes(study.name));
  const turn = (name: string, on: boolean) =>
    setSearch({ study: on ? [...names, name] : names.filter((other) => other !== name) });
  return (
    <div class="page">
      <div class="head">
        <h1>Compare studies</h1>
      </div>
      <section class="card">
        <header>
          <h2>Best so far</h2>
          <span class="quiet small">result by result</span>
        </header>
        <Overlay chosen={chosen} />
      </section>
      <section class="card">
        <div class="scroll" tabIndex={0} role="region" aria-label="Studies, scrollable">
          <table class="plain">
            <thead>
              <tr>
                {["Study", "Best", "Candidate", "Results", "Possible improvement"].map((title) => (
                  <th scope="col" key={title}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((compared) => (
                <Line
                  {...compared}
                  shown={names.includes(compared.study.name)}
                  onTurn={turn}
                  key={compared.study.name}
                />
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}

interface LineProps extends Compared {
  shown: boolean;
  onTurn: (name: string, on: boolean) => void;
}

function Line({ study, summary, shown, onTurn }: LineProps) {
  const { best_observed: best, certificate, unit, counts } = summary;
  return (
    <tr>
      <td>
        <label class="check">
          <input
            type="checkbox"
            checked={shown}
            aria-label={`Show ${study.name}`}
            onChange={(event) => onTurn(study.name, event.currentTarget.checked)}
          />
          <a href={studyPath(study.name)}>{study.name}</a>
        </label>
      </td>
      <td class="number">{best ? withUnit(number(best.mean), unit) : "–"}</td>
      <td>{best?.key}</td>
      <td class="number">{count(counts.observations)}</td>
      <td class="number">{certificate ? improvement(certificate.regret_bound, unit) : "–"}</td>
    </tr>
  );
}

function Overlay({ chosen }: { chosen: Compared[] }) {
  const units = [
    ...new Set(
      chosen.map(({ summary }) => withUnit(summary.objective || "value", summary.unit && `(${summary.unit})`)),
    ),
  ];
  const option = (theme: Theme) => {
    const colours = [theme.accent, theme.warn, theme.ink, theme.point, theme.bad];
    return {
      ...frame(theme),
      xAxis: axis(theme, false, { name: "result", whole: true }),
      yAxis: axis(theme, true, { name: units.join(" / ") }),
      series: chosen.map(({ study, summary, trace }, position) => ({
        name: study.name,
        type: "line",
        step: "end",
        symbolSize: 5,
        showSymbol: trace.progress.length < 120,
        itemStyle: { color: colours[position % colours.length] },
        lineStyle: { width: 2, type: DASHES[Math.floor(position / colours.length) % DASHES.length] },
        endLabel: {
          show: true,
          formatter: study.name,
          color: colours[position % colours.length],
          fontSize: theme.size,
          align: "right",
          offset: [-4, -12],
        },
        data: trace.progress.map(({ best }, index) => [index + 1, best]),
        tooltip: {
          formatter: ({ dataIndex }: { dataIndex: number }) =>
            tip([
              study.name,
              `${withUnit(number(trace.progress[dataIndex]?.best), summary.unit)} after ${dataIndex + 1} results`,
            ]),
        },
      })),
    };
  };
  return (
    <>
      <Chart
        title="Best so far of several studies"
        height="tall"
        facts={[chosen.map(({ study }) => study.name).join(" ")]}
        empty={chosen.length ? undefined : "Choose a study below."}
        picture="compared-studies"
        option={option}
      />
      {units.length > 1 && (
        <p class="quiet small">These studies measure different things; compare shapes, not heights.</p>
      )}
    </>
  );
}
