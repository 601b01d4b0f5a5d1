// The dialog of an ask: what it says on one side, the batch as it would be on the other. Nothing counts until it is issued.

import "../study/details.ts";
import { useRef, useState } from "preact/hooks";
import { codeOf, explain, Problem } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import { useStored } from "../../core/hooks.ts";
import type { Batch, Preview, Study, Summary } from "../../core/types.ts";
import { Modal, toast } from "../../parts/dialog.tsx";
import { Findings } from "../../parts/states.tsx";
import { issue, previewOf, rememberWorker } from "../asking.tsx";
import { Composition, Selection, Sizes } from "./fields.tsx";
import { Previewed } from "./previewed.tsx";
import { bodyOf, placeOf, plainTerms, type Terms } from "./terms.ts";

interface DialogProps {
  study: Study;
  summary: Summary;
  worker: string;
  onDone: (batch: Batch) => void;
  onClose: () => void;
}

interface Seen {
  preview: Preview;
  body: string; // what was asked for; another request needs another preview
  before: string[] | null; // the candidates of the preview that no longer holds
}

export function AskDialog({ study, summary, worker, onDone, onClose }: DialogProps) {
  const [terms, setTerms] = useState<Terms>(() => plainTerms(worker));
  const [seen, setSeen] = useState<Seen | null>(null);
  const [busy, setBusy] = useState<"" | "preview" | "issue">("");
  const [error, setError] = useState<unknown>(null);
  const [pins] = useStored<string[]>(`nextbatch:pins:${study.name}`, []);
  const form = useRef<HTMLFormElement>(null);
  const pane = useRef<HTMLDivElement>(null);
  const change = (part: Partial<Terms>) => setTerms((last) => ({ ...last, ...part }));
  const body = JSON.stringify(bodyOf(terms));
  const current = seen?.body === body ? seen.preview : null;
  const open = summary.open_batches.find((batch) => batch.worker === terms.worker.trim());

  const look = async (before: string[] | null = null) => {
    if (!form.current?.reportValidity()) return;
    setBusy("preview");
    if (!before) setError(null);
    try {
      setSeen({ preview: await previewOf(study.name, bodyOf(terms)), body, before });
    } catch (problem) {
      setError(problem);
    }
    setBusy("");
    if (matchMedia("(max-width: 900px)").matches) pane.current?.scrollIntoView({ block: "start" });
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy("issue");
    setError(null);
    try {
      const batch = await issue(study.name, { ...bodyOf(terms), ...(current ? { confirm: current.preview } : {}) });
      rememberWorker(batch.worker);
      if (open) toast(`${open.worker} still had batch ${batch.number} open. Nothing new was issued.`);
      onClose();
      onDone(batch);
    } catch (problem) {
      setError(problem);
      if (codeOf(problem) === "preview-outdated") await look(current?.suggestions.map(({ key }) => key));
      else setBusy("");
    }
  };
  return (
    <Modal label="Ask for a batch" onClose={onClose} wide>
      <form class="asking" method="dialog" onSubmit={submit} ref={form}>
        <div class="asking-terms">
          <h2 aria-level={1}>Ask for a batch</h2>
          <p class="quiet">
            The server chooses which measurements are worth making at once, and how many, within what you say here.
          </p>
          <Sizes terms={terms} change={change} />
          {open && (
            <p class="note warn" role="status">
              {`${open.worker} still has batch ${open.number} open, with ${plural(open.pending, "measurement")} to report. Asking again opens that batch.`}
            </p>
          )}
          <Selection terms={terms} change={change} study={study} pins={pins} />
          <Composition terms={terms} change={change} study={study} />
        </div>
        <div class="asking-preview" ref={pane}>
          <Complaint error={error} terms={terms} />
          <Previewed
            preview={seen?.preview ?? null}
            before={seen?.before ?? null}
            outdated={seen !== null && !current}
            busy={busy === "preview"}
            terms={terms}
            study={study}
            summary={summary}
          />
        </div>
        <div class="row end asking-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" disabled={busy !== "" || Boolean(open)} onClick={() => look()}>
            {seen ? "Preview again" : "Preview"}
          </button>
          <button type="submit" class="primary" disabled={busy !== ""}>
            {current ? "Issue this batch" : "Ask"}
          </button>
        </div>
      </form>
    </Modal>
  );
}

function Complaint({ error, terms }: { error: unknown; terms: Terms }) {
  if (!error) return null;
  if (error instanceof Problem && error.errors.length) {
    const placed = error.errors.map((finding) => ({ ...finding, column: placeOf(finding, terms) ?? finding.column }));
    return <Findings list={placed} tone="bad" title={error.message} />;
  }
  return (
    <p class="note bad" role="alert">
      {explain(error)}
    </p>
  );
}
