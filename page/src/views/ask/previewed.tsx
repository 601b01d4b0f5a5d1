// The batch as it would be: its candidates, why it has its size, and what each condition costs. Nothing is stored.

import { Fragment } from "preact";
import { cell, localised, plural } from "../../core/format.ts";
import type { Column, Preview, Study, Suggestion, Summary } from "../../core/types.ts";
import { endedWords, expectedWords, purposeWords } from "../../core/words.ts";
import { Term } from "../../parts/term.tsx";
import { priceWords, type Terms } from "./terms.ts";

interface PreviewProps {
  preview: Preview | null;
  before: string[] | null;
  outdated: boolean;
  busy: boolean;
  terms: Terms;
  study: Study;
  summary: Summary;
}

export function Previewed({ preview, before, outdated, busy, terms, study, summary }: PreviewProps) {
  return (
    <section class={outdated || busy ? "previewed old" : "previewed"} aria-label="Preview" aria-live="polite">
      {busy && <p class="note">Choosing the batch …</p>}
      {!busy && !preview && (
        <p class="quiet hint-box">
          <b>Preview</b> shows the batch here before it counts. Change the conditions and look again, as often as you
          like.
        </p>
      )}
      {preview && (
        <>
          <h3 aria-level={2}>{sizeWords(preview, terms)}</h3>
          {preview.size_words && <p class="quiet small">{localised(preview.size_words)}</p>}
          <p class="quiet small">
            {outdated ? "The request has changed since. Preview it again." : "Nothing is stored yet."}
          </p>
          {before && <Changed before={before} now={preview.suggestions.map(({ key }) => key)} />}
          <Prices
            preview={preview}
            terms={terms}
            unit={(study.configuration.objectives?.length ?? 1) > 1 ? null : summary.unit}
          />
          {study.configuration.theory && !preview.guaranteed && (
            <p class="note warn">The guarantee of the theory does not cover this batch.</p>
          )}
          <Members preview={preview} terms={terms} study={study} summary={summary} />
        </>
      )}
    </section>
  );
}

function sizeWords({ size, suggestions, ended }: Preview, { number, wells, include }: Terms): string {
  const repeats = suggestions.length < size ? ` of ${plural(suggestions.length, "candidate")}` : "";
  const usual = ended === "size" && !number && !wells && !include.length;
  return `${plural(size, "measurement")}${repeats}: ${usual ? "a usual round" : endedWords(ended)}`;
}

function Changed({ before, now }: { before: string[]; now: string[] }) {
  const gone = before.filter((key) => !now.includes(key));
  const added = now.filter((key) => !before.includes(key));
  if (!gone.length && !added.length) return <p class="note warn">The candidates are the same as before.</p>;
  return (
    <p class="note warn">
      {added.length > 0 && `New: ${added.join(", ")}. `}
      {gone.length > 0 && `No longer: ${gone.join(", ")}.`}
    </p>
  );
}

function Prices({ preview, terms, unit }: { preview: Preview; terms: Terms; unit: string | null }) {
  const prices = Object.entries(preview.prices);
  if (!prices.length) return null;
  return (
    <div class="prices">
      <h4 aria-level={3}>
        <Term name="price">What your conditions cost</Term>
      </h4>
      <ul>
        {prices.map(([term, price]) => (
          <li key={term} class={price > 0 ? "" : "quiet"}>
            {priceWords(term, price, terms, unit)}
          </li>
        ))}
      </ul>
    </div>
  );
}

type MembersProps = Pick<PreviewProps, "terms" | "study" | "summary"> & { preview: Preview };

function Members({ preview, terms, study, summary }: MembersProps) {
  const columns = study.columns.filter((column) => column.role !== "key");
  const known = preview.suggestions.some(({ why }) => why.mean !== null);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Candidates of the preview, scrollable">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Candidate</th>
            {known && <th scope="col">Expected</th>}
            {columns.map(({ name }) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {preview.suggestions.map((suggestion) => (
            <Fragment key={suggestion.suggestion}>
              <tr class={suggestion.why.words ? "explained" : ""}>
                <td class="nowrap">
                  <b>{suggestion.key}</b>
                  {suggestion.replicates > 1 && <span class="chip gap">{`${suggestion.replicates}×`}</span>}
                  {terms.include.some(({ key }) => key === suggestion.key) && (
                    <span class="chip accent gap">your own</span>
                  )}
                </td>
                {known && <td class="nowrap number">{expectedWords(suggestion.why, summary)}</td>}
                {columns.map((column) => (
                  <td class="number" key={column.name}>
                    {cell(cellOf(suggestion, column))}
                  </td>
                ))}
              </tr>
              {suggestion.why.words && (
                <tr class="explanation">
                  <td colSpan={columns.length + (known ? 2 : 1)}>{purposeWords(suggestion.why.words)}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cellOf = ({ features, attributes }: Suggestion, { name, role }: Column) =>
  (role === "feature" ? features : attributes)[name];
