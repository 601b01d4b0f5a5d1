// Create a study from a file: drop it, say what the columns are and what is measured.

import { useRef, useState } from "preact/hooks";
import { at, go, type Place, studyPath } from "../../core/address.ts";
import { change, codeOf, explain, Problem, pages, query, send, studyApi, token, v1 } from "../../core/api.ts";
import { csvText, isWorkbook, type Preview, preview, typeOf } from "../../core/csv.ts";
import { wholeTable } from "../../core/descriptors.ts";
import { plural } from "../../core/format.ts";
import { useDelayed, useRead, useTitle } from "../../core/hooks.ts";
import { may } from "../../core/session.ts";
import type { StudyPage, UploadReceipt } from "../../core/types.ts";
import { xlsxPreview } from "../../core/xlsx.ts";
import { toast } from "../../parts/dialog.tsx";
import { Dropzone } from "../../parts/field.tsx";
import { Complaint, Failed, Findings, refusal } from "../../parts/states.tsx";
import { Descriptors } from "../descriptors.tsx";
import { type Further, followColumns } from "./quantities.tsx";
import { guessRoles, type Role, type RolesOf, RolesTable } from "./roles.tsx";
import { type Chosen, readSettings, SettingsForm } from "./settings.tsx";

export default function Create(_: { place: Place }) {
  useTitle("New study");
  if (!may("manage")) return <Failed error={refusal("Only scientists and admins can create studies.")} />;
  return <Form />;
}

interface Sheet {
  chosen: File;
  file: File; // with the descriptors, if there are any
  table: Preview | null; // none of an Excel file that cannot be read here: the server says why
}

const LOOKED_AT = 4_000_000; // characters of a file; enough for whole columns of all but the largest

// The rows that roles are guessed from: all of them, unless the file is very large.
async function beginningOf(file: File): Promise<Preview | null> {
  if (isWorkbook(file)) return xlsxPreview(file, Number.POSITIVE_INFINITY);
  const table = preview(await file.slice(0, LOOKED_AT).text(), Number.POSITIVE_INFINITY);
  return file.size > LOOKED_AT ? { ...table, rows: table.rows.slice(0, -1) } : table; // the last row may be cut off
}

const ONLY_ONE: Role[] = ["key", "cost", "duration"];
const TAKEN = ["study-exists", "candidates-exist", "candidates-in-use"];

const columnQuery = (roles: RolesOf) => {
  const of = (role: Role) => [...roles].filter(([, assigned]) => assigned === role).map(([name]) => name);
  return query({
    key: of("key")[0],
    attribute: [...of("attribute"), ...of("result")],
    text: of("result"),
    smiles: of("smiles"),
    cost: of("cost")[0],
    duration: of("duration")[0],
  });
};

function Form() {
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const [roles, setRoles] = useState<RolesOf>(new Map());
  const [receipt, setReceipt] = useState<UploadReceipt | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [name, setName] = useState("");
  const [typed, setTyped] = useState(false);
  const [further, setFurther] = useState<Further[]>([]);
  const round = useRef(0);

  const check = useDelayed(async (file: File, assigned: RolesOf) => {
    const mine = ++round.current;
    setReceipt(null);
    setProblem(null);
    try {
      const path = v1("candidates/check") + columnQuery(assigned);
      const answer = await (await send("POST", path, { body: file, type: typeOf(file) })).json();
      if (mine === round.current) setReceipt(answer);
    } catch (refused) {
      if (mine === round.current) setProblem(refused);
    }
  }, 150);
  const take = async (file: File, { chosen, known }: { chosen?: File; known?: RolesOf } = {}) => {
    const table = await beginningOf(file);
    const guessed: RolesOf = new Map([...(table ? guessRoles(table) : []), ...(known ?? [])]);
    setSheet({ chosen: chosen ?? file, file, table });
    setRoles(guessed);
    setFurther((last) => followColumns(last, resultsOf(guessed).slice(1)));
    setReceipt(null);
    setProblem(null);
    if (!typed) setName(nameFrom(file.name));
    check(file, guessed);
  };
  const assign = (column: string, role: Role) => {
    const next: RolesOf = new Map(roles);
    if (ONLY_ONE.includes(role))
      for (const [other, assigned] of next) if (assigned === role) next.set(other, "attribute");
    next.set(column, role);
    setRoles(next);
    setFurther(followColumns(further, resultsOf(next).slice(1)));
    if (sheet) check(sheet.file, next);
  };
  const taken = useTaken(name);
  const results = resultsOf(roles);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!sheet) return;
    setBusy(true);
    setError(null);
    const form = event.target as HTMLFormElement;
    const chosen = readSettings(form, further);
    const main = String(new FormData(form).get("objective") ?? "").trim() || "value";
    try {
      await createStudy(name, chosen, sheet, roles, columnsOf(results, main, further));
      toast(`Study ${name} is ready.`);
      go(studyPath(name));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return (
    <div class="page medium">
      <div class="head">
        <h1>New study</h1>
      </div>
      <form class="steps" onSubmit={submit}>
        <section class={sheet ? "card step filled" : "card step"}>
          <header>
            <h2>The candidates</h2>
            <span class="push" />
            {sheet && (
              <span class="quiet small">{`${sheet.file.name}, ${Math.max(1, Math.round(sheet.file.size / 1024))} kB`}</span>
            )}
          </header>
          <Dropzone
            title="Drop a CSV or Excel file here, or choose one"
            hint="A header row, then one row per candidate"
            onFile={(file) => take(file)}
          />
          {sheet?.table && <RolesTable table={sheet.table} roles={roles} onAssign={assign} />}
          {sheet?.table && (
            <Descriptors
              candidates={sheet.chosen}
              onJoined={(file) => take(file, { chosen: sheet.chosen, known: roles })}
              key={`${sheet.chosen.name} ${sheet.chosen.lastModified}`}
            />
          )}
          <div class="verdict" aria-live="polite">
            {sheet && !receipt && !problem && <p class="note">Checking the file …</p>}
            {receipt && <Verdict receipt={receipt} />}
            {receipt && results.length > 0 && (
              <p class="note">{`Values of ${results.join(" and ")} are stored as past results, never used as features.`}</p>
            )}
            {problem !== null && <Refused problem={problem} />}
          </div>
        </section>
        <SettingsForm
          name={name}
          taken={taken}
          objective={results[0]}
          further={further}
          onFurther={setFurther}
          onName={(value) => {
            setTyped(true);
            setName(value);
          }}
        />
        {error !== null && <NotCreated error={error} name={name} />}
        <div class="row end">
          <a class="button" href={at("")}>
            Cancel
          </a>
          <button type="submit" class="primary" disabled={!receipt || busy || taken}>
            Create the study
          </button>
        </div>
      </form>
    </div>
  );
}

function Verdict({ receipt }: { receipt: UploadReceipt }) {
  const features = receipt.columns.filter((column) => column.role === "feature");
  const words = features.map(
    ({ name, kind, levels }) => `${name} (${kind === "text" ? plural(levels.length, "value") : kind})`,
  );
  return (
    <>
      <p class="note good">
        <b>{`${plural(receipt.candidates, "candidate")}, ${plural(features.length, "feature")}`}</b>
        {`: ${words.join(", ")}`}
      </p>
      <Findings list={receipt.warnings} tone="warn" title={plural(receipt.warnings.length, "warning")} />
    </>
  );
}

function Refused({ problem }: { problem: unknown }) {
  if (problem instanceof Problem && problem.errors.length)
    return (
      <Findings list={problem.errors} tone="bad" title={`${problem.message} Correct the file and drop it again.`} />
    );
  return <Complaint error={problem} />;
}

// Letters, digits, dots and dashes of a file's name.
const nameFrom = (file: string) =>
  file
    .replace(/\.[^.]*$/, "")
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/-+$/, "")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100);

// A name that is taken is said at once, before anything is sent.
function useTaken(name: string): boolean {
  const { data } = useRead(readNames, []);
  return data?.has(name) ?? false;
}

async function readNames(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const page of pages<StudyPage>(v1("studies"))) for (const study of page.studies) names.add(study.name);
  return names;
}

const resultsOf = (roles: RolesOf) => [...roles].filter(([, role]) => role === "result").map(([column]) => column);

// Which column has the past results of which quantity.
function columnsOf(results: string[], main: string, further: Further[]): History {
  const [first, ...others] = results;
  const quantities = new Map(further.map(({ source, name }) => [source, name.trim()]));
  const named = others.map((column): [string, string] => [column, quantities.get(column) ?? column]);
  return first ? [[first, further.length ? main : "value"], ...named] : [];
}

type History = [column: string, quantity: string][];

async function createStudy(name: string, settings: Chosen, sheet: Sheet, roles: RolesOf, history: History) {
  await change("PUT", studyApi(name), settings); // repeating it does no harm, so a second try continues where the first ended
  await send("PUT", studyApi(name, "/candidates") + columnQuery(roles), {
    body: sheet.file,
    type: typeOf(sheet.file),
    headers: { "Idempotency-Key": token() },
  });
  if (history.length) await sendHistory(name, sheet.file, roles, history);
}

// The columns with past results, as a sheet of its own: the key of each row and its values, where there are any.
async function sendHistory(name: string, file: File, roles: RolesOf, history: History): Promise<void> {
  const table = await wholeTable(file);
  const keyColumn = [...roles].find(([, role]) => role === "key")?.[0];
  const key = table.header.indexOf(keyColumn ?? "");
  const places = history.map(([column]) => table.header.indexOf(column));
  const rows = table.rows
    .map((row, position) => [
      keyColumn === undefined ? String(position + 1) : (row[key] ?? ""), // without a key column, the server numbers the rows
      ...places.map((place) => plainNumber(row[place] ?? "")),
    ])
    .filter(([id, ...values]) => id && values.some(Boolean));
  if (!rows.length) return;
  await send("POST", studyApi(name, "/observations"), {
    body: csvText(["key", ...history.map(([, quantity]) => quantity)], rows),
    type: "text/csv",
    headers: { "Idempotency-Key": token() },
  });
}

const plainNumber = (text: string) => (/^[+-]?\d+,\d+$/.test(text) ? text.replace(",", ".") : text);

// Why the study was not created; a name that is taken never replaces anything.
const HIDDEN = ["study-not-found", "forbidden"]; // it exists, and this key may not see it
const GONE = "study-deleted";

function NotCreated({ error, name }: { error: unknown; name: string }) {
  const code = codeOf(error);
  if (HIDDEN.includes(code) || code === GONE)
    return (
      <p class="note bad" role="alert">
        {code === GONE
          ? `The name ${name} is taken by a study that was deleted. Choose another name.`
          : `The name ${name} is taken by a study that your key has no access to. Choose another name.`}
      </p>
    );
  if (TAKEN.includes(code))
    return (
      <p class="note bad" role="alert">
        {`The name ${name} is taken. Nothing was changed. Choose another name, or `}
        <a href={studyPath(name)}>{`open ${name}`}</a>
        {" and add candidates there."}
      </p>
    );
  if (!(error instanceof Problem) || !error.errors.length)
    return (
      <p class="note bad" role="alert">
        {explain(error)}
      </p>
    );
  const named = error.errors.map((finding) => ({
    ...finding,
    column: finding.column ?? finding.pointer?.slice(1) ?? null,
  }));
  return <Findings list={named} tone="bad" title={error.message} />;
}
