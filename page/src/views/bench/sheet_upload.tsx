// A filled-in sheet is checked before anything is stored. The check shows every value as it was understood. What a
// person may confirm does not end it: values in doubt, and values that correct what is stored.

import { useState } from "preact/hooks";
import { Problem, send, studyApi, token } from "../../core/api.ts";
import { typeOf } from "../../core/csv.ts";
import { outcome, plural } from "../../core/format.ts";
import { DOUBTS } from "../../core/outbox.ts";
import type { Quantity, ReportReceipt } from "../../core/types.ts";
import { Modal, toast } from "../../parts/dialog.tsx";
import { Dropzone, Field } from "../../parts/field.tsx";
import { Complaint, Findings } from "../../parts/states.tsx";
import { isDoubt } from "../correcting.tsx";

type Row = ReportReceipt["results"][number];
type Post = (query: string, headers?: Record<string, string>) => Promise<ReportReceipt>;

interface Check {
  receipt: ReportReceipt;
  accepted: string[]; // what a person confirms by saving
}

const MOST_ROWS = 200;
const ELSEWHERE = [...DOUBTS, "reported-before"]; // warnings that the dialog shows in its own words
const STATUS: Record<string, string> = {
  recorded: "new",
  completed: "adds to a result",
  corrected: "corrects",
  duplicate: "reported before",
};

async function checked(post: Post): Promise<Check> {
  const accepted: string[] = [];
  for (;;) {
    try {
      return { receipt: await post(["dry_run=true", ...accepted].join("&")), accepted };
    } catch (error) {
      const option = confirmable(error);
      if (!option || accepted.includes(option)) throw error;
      accepted.push(option);
    }
  }
}

function confirmable(error: unknown): string | null {
  if (isDoubt(error)) return "outside_limits=accept";
  return error instanceof Problem && error.code === "already-observed" ? "corrections=accept" : null;
}

interface UploadProps {
  name: string;
  quantities: Quantity[];
  onSaved: () => Promise<void>;
  onClose: () => void;
}

export function SheetUpload({ name, quantities, onSaved, onClose }: UploadProps) {
  const [file, setFile] = useState<File | null>(null);
  const [check, setCheck] = useState<Check | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [meant, setMeant] = useState(false);
  const [reason, setReason] = useState("");
  const [key, setKey] = useState(""); // the same for every click, so that two clicks save once
  const postOf =
    (chosen: File): Post =>
    async (query, headers = {}) => {
      const path = `${studyApi(name, "/observations")}?${query}`;
      return (await send("POST", path, { body: chosen, type: typeOf(chosen), headers })).json();
    };
  const choose = async (chosen: File) => {
    setCheck(null);
    setError(null);
    setMeant(false);
    setReason("");
    setFile(chosen);
    setKey(token());
    try {
      setCheck(await checked(postOf(chosen)));
    } catch (problem) {
      setError(problem);
    }
  };
  const explain = (words: string) => {
    setReason(words);
    setKey(token()); // another reason is another request
  };
  const save = async () => {
    if (!file || !check) return;
    setBusy(true);
    const because = corrected ? [`reason=${encodeURIComponent(reason.trim())}`] : [];
    try {
      const done = await postOf(file)([...check.accepted, ...because].join("&"), { "Idempotency-Key": key });
      onClose();
      toast(savedWords(done));
      await onSaved();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const results = check?.receipt.results ?? [];
  const doubts = check?.receipt.warnings.filter(({ code }) => DOUBTS.includes(code)) ?? [];
  const others = check?.receipt.warnings.filter(({ code }) => !ELSEWHERE.includes(code)) ?? [];
  const corrected = countOf(results, "corrected");
  const rows = results.length - countOf(results, "duplicate");
  const open = !check || rows === 0 || (doubts.length > 0 && !meant) || (corrected > 0 && !reason.trim());
  return (
    <Modal label="Upload a filled-in sheet" onClose={onClose}>
      <div class="stack">
        <h2>Upload a filled-in sheet</h2>
        <Dropzone
          title="Drop the filled-in sheet here, or choose it"
          hint="CSV or Excel. It is checked first; nothing is stored until you save."
          onFile={choose}
        />
        <div class="verdict" aria-live="polite">
          {file && !check && !error && <p class="note">Checking the file …</p>}
          <Complaint error={error} />
          {check && <Counts results={results} />}
          <Findings list={others} tone="warn" title="Please check" />
        </div>
        {check && <Understood results={results} quantities={quantities} />}
        {doubts.length > 0 && (
          <div class="stack">
            <Findings list={doubts} tone="warn" title="Values in doubt" />
            <label class="tick">
              <input type="checkbox" checked={meant} onChange={(event) => setMeant(event.currentTarget.checked)} />
              {doubts.length === 1 ? "This value is right" : "These values are right"}
            </label>
          </div>
        )}
        {corrected > 0 && (
          <Field
            name="reason"
            label={`Why ${corrected === 1 ? "is 1 stored result" : `are ${corrected} stored results`} corrected?`}
            hint="The old values stay in the history, with your reason."
            placeholder="read the wrong line"
            maxlength={500}
            required
            onInput={explain}
          />
        )}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={open || busy} onClick={save}>
            {check ? `Save ${plural(rows, "row")}` : "Save"}
          </button>
        </div>
      </div>
    </Modal>
  );
}

const countOf = (results: readonly Row[], ...states: string[]): number =>
  results.filter(({ status }) => states.includes(status)).length;

function savedWords({ recorded, results }: ReportReceipt): string {
  const corrected = countOf(results, "corrected");
  return `${plural(recorded, "value")} saved${corrected ? `, ${corrected} corrected` : ""}.`;
}

function Counts({ results }: { results: readonly Row[] }) {
  const lost = countOf(results, "failed", "abandoned");
  const again = countOf(results, "duplicate");
  const corrected = countOf(results, "corrected");
  return (
    <p class="note good">
      <b>{plural(countOf(results, "recorded", "completed"), "new value")}</b>
      {corrected > 0 && `, ${corrected} corrected`}
      {lost > 0 && `, ${lost} failed or abandoned`}
      {again > 0 && `, ${again} reported before`}
    </p>
  );
}

function Understood({ results, quantities }: { results: readonly Row[]; quantities: Quantity[] }) {
  const corrects = countOf(results, "corrected") > 0;
  const words = (values: Row["values"]) => {
    const [only] = Object.values(values);
    return only ? outcome({ value: only.value, values }, quantities) : "–";
  };
  return (
    <div class="scroll understood" tabIndex={0} role="region" aria-label="The values as they were understood">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Candidate</th>
            {corrects && (
              <th scope="col" class="right">
                Stored
              </th>
            )}
            <th scope="col" class="right">
              Understood
            </th>
            <th scope="col">What it does</th>
          </tr>
        </thead>
        <tbody>
          {results.slice(0, MOST_ROWS).map((result, position) => (
            // A row may bring several results.
            <tr key={position} class={result.status === "duplicate" ? "quiet" : ""}>
              <td class="number">{result.row}</td>
              <td>
                {result.key} <span class="quiet small">{result.suggestion}</span>
              </td>
              {corrects && <td class="right number">{result.status === "corrected" ? words(result.replaced) : ""}</td>}
              <td class="right number">
                <b>{words(result.values)}</b>
              </td>
              <td>{STATUS[result.status] ?? result.status}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {results.length > MOST_ROWS && <p class="quiet small">{`… and ${results.length - MOST_ROWS} more`}</p>}
    </div>
  );
}
