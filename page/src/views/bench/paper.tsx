// A batch on paper: the layout of a plate, or a label for each vial. Read when it is first opened.

import "../../base.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { benchPath } from "../../core/address.ts";
import { query, send, studyApi } from "../../core/api.ts";
import { preview as readSheet, type Preview as Sheet } from "../../core/csv.ts";
import { cell, plural, withUnit } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import type { Batch, Suggestion } from "../../core/types.ts";
import { Select } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { QrCode } from "../../parts/qr.tsx";
import { Complaint, Loading } from "../../parts/states.tsx";
import { bareName, unitOf } from "../study/facts.ts";
import type { PaperProps } from "./printing.tsx";

export default function Paper({ show, ...props }: PaperProps) {
  return show === "labels" ? <Labels {...props} /> : <Plate {...props} />;
}

type SheetProps = Omit<PaperProps, "show">;

function Tools({ name, worker, batch, children }: SheetProps & { children?: ComponentChildren }) {
  return (
    <div class="row tools no-print">
      <a class="button" href={benchPath(name, worker, batch.number)}>
        Back to the bench
      </a>
      {children}
      <span class="push" />
      <button type="button" class="primary" onClick={() => print()}>
        <Icon name="print" />
        Print
      </button>
    </div>
  );
}

const PLATES = ["2x3", "3x4", "4x6", "6x8", "8x12", "16x24"];
const wellsOf = (plate: string) => plate.split("x").reduce((product, side) => product * Number(side), 1);
const plateWords = (plate: string) => `${wellsOf(plate)} wells (${plate.replace("x", " × ")})`;

function Plate(props: SheetProps) {
  const { name, batch, facts } = props;
  const needed = batch.suggestions
    .filter(({ state }) => state !== "abandoned")
    .reduce((sum, { replicates }) => sum + replicates, 0);
  const [plate, setPlate] = useState(PLATES.find((size) => wellsOf(size) >= needed) ?? "16x24");
  const [order, setOrder] = useState("");
  const path = studyApi(name, `/batches/${batch.number}/sheet`) + query({ plate, order_by: order });
  const { data, error } = useRead(async () => readSheet(await (await send("GET", path)).text(), 400), [path]);
  const columns = facts.study.columns.filter((column) => column.role !== "key");
  return (
    <div class="paper">
      <Tools {...props}>
        <Select
          label="Plate"
          options={PLATES.map((size) => [size, plateWords(size)])}
          value={plate}
          onChange={setPlate}
        />
        <Select
          label="In order of"
          options={[["", "the batch"], ...columns.map((column): [string, string] => [column.name, column.name])]}
          value={order}
          onChange={setOrder}
        />
        <a class="button" href={path} download={`${name}-batch-${batch.number}-plate.csv`}>
          <Icon name="down" />
          CSV of the layout
        </a>
      </Tools>
      <h1>{`Plate of batch ${batch.number}: ${plural(needed, "measurement")}`}</h1>
      <Complaint error={error} />
      {!data && !error && <Loading part />}
      {data && (
        <Wells
          sheet={data}
          batch={batch}
          plate={plate}
          shown={columns.map(({ name: column }) => column)}
          order={order}
        />
      )}
    </div>
  );
}

interface WellsProps {
  sheet: Sheet;
  batch: Batch;
  plate: string;
  shown: string[];
  order: string;
}

// The first columns of a candidate fit into a well; the rest is on its sheet.
const MOST_LINES = 3;

// The server says what is in which well, in a sheet; the page shows it.
function Wells({ sheet, batch, plate, shown, order }: WellsProps) {
  const [rows = 0, columns = 0] = plate.split("x").map(Number);
  const lines = [...new Set([...(order ? [order] : []), ...shown])];
  const place = sheet.header.indexOf("suggestion");
  const byId = new Map(batch.suggestions.map((suggestion) => [suggestion.suggestion, suggestion]));
  const byWell = new Map(sheet.rows.map((cells) => [cells[0], byId.get(cells[place] ?? "")]));
  const letter = (row: number) => String.fromCharCode(65 + row);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Plate, scrollable">
        <table class="plate" style={{ "--wells": columns }}>
          <thead>
            <tr>
              <td />
              {Array.from({ length: columns }, (_, column) => (
                <th scope="col" key={column}>
                  {column + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, row) => (
              <tr key={row}>
                <th scope="row">{letter(row)}</th>
                {Array.from({ length: columns }, (_well, column) => {
                  const inside = byWell.get(`${letter(row)}${column + 1}`);
                  return (
                    <td key={column} class={inside ? "filled" : ""}>
                      {inside && <b>{inside.key}</b>}
                      {inside &&
                        lines
                          .slice(0, MOST_LINES)
                          .map((name) => (
                            <span key={name}>
                              {withUnit(cell(inside.features[name] ?? inside.attributes[name]), unitOf(name))}
                            </span>
                          ))}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {lines.length > 0 && (
        <p class="quiet small">
          {`In each well: the candidate, then ${lines.slice(0, MOST_LINES).map(bareName).join(", ")}.`}
          {lines.length > MOST_LINES && ` The CSV has all ${lines.length} columns.`}
        </p>
      )}
    </>
  );
}

function Labels(props: SheetProps) {
  const { name, batch } = props;
  const labels = batch.suggestions
    .filter(({ state }) => state !== "abandoned")
    .flatMap((suggestion) =>
      Array.from({ length: suggestion.replicates }, (_, replicate) => ({ suggestion, replicate })),
    );
  return (
    <div class="paper">
      <Tools {...props} />
      <h1 class="no-print">{`${plural(labels.length, "label")} for batch ${batch.number}`}</h1>
      <p class="quiet no-print">
        The code is the candidate's key: a scanner at the bench goes to its row. Print on a sheet of labels, or cut them
        out.
      </p>
      <ol class="labels">
        {labels.map(({ suggestion, replicate }) => (
          <Label
            key={`${suggestion.suggestion}/${replicate}`}
            study={name}
            suggestion={suggestion}
            replicate={suggestion.replicates > 1 ? replicate + 1 : null}
          />
        ))}
      </ol>
    </div>
  );
}

interface LabelProps {
  study: string;
  suggestion: Suggestion;
  replicate: number | null;
}

function Label({ study, suggestion, replicate }: LabelProps) {
  const { key, suggestion: id, features, attributes } = suggestion;
  const cells = [...Object.entries(attributes), ...Object.entries(features)];
  return (
    <li class="label">
      <QrCode text={key} label={`Code of ${key}`} />
      <div>
        <b>{key}</b>
        <span>{`${study} · ${id}${replicate ? ` · ${replicate}` : ""}`}</span>
        <span>
          {cells.map(([column, value]) => `${bareName(column)} ${withUnit(cell(value), unitOf(column))}`).join(", ")}
        </span>
      </div>
    </li>
  );
}
