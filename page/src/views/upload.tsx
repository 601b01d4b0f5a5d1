// Add candidates to a study from a file: checked first, stored when everything is in order.

import { useState } from "preact/hooks";
import { query, send, studyApi, token } from "../core/api.ts";
import { plural } from "../core/format.ts";
import type { UploadReceipt } from "../core/types.ts";
import { Modal, toast } from "../parts/dialog.tsx";
import { Dropzone } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Complaint, Findings } from "../parts/states.tsx";

export const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
export const typeOf = (file: File): string => (/\.xlsx$/i.test(file.name) ? XLSX : "text/csv");

interface UploadProps {
  name: string;
  onDone: () => Promise<void>;
  first?: boolean;
}

export function UploadCandidates({ name, onDone, first = false }: UploadProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={first ? "primary" : "small"} onClick={() => setOpen(true)}>
        <Icon name="up" size={16} />
        {first ? "Upload candidates" : "Add candidates"}
      </button>
      {open && <UploadDialog name={name} onDone={onDone} first={first} onClose={() => setOpen(false)} />}
    </>
  );
}

function UploadDialog({ name, onDone, first, onClose }: UploadProps & { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [receipt, setReceipt] = useState<UploadReceipt | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [key, setKey] = useState("");
  const post = async (chosen: File, dry: boolean): Promise<UploadReceipt> => {
    const path = studyApi(name, "/candidates") + query({ dry_run: dry || undefined });
    const headers = dry ? undefined : { "Idempotency-Key": key };
    return (await send(first ? "PUT" : "POST", path, { body: chosen, type: typeOf(chosen), headers })).json();
  };
  const check = async (chosen: File) => {
    setFile(chosen);
    setReceipt(null);
    setError(null);
    setKey(token());
    try {
      setReceipt(await post(chosen, true));
    } catch (problem) {
      setError(problem);
    }
  };
  const save = async () => {
    if (!file) return;
    try {
      const done = await post(file, false);
      await onDone();
      toast(`${plural(done.added, "candidate")} added.`);
      onClose();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Modal label="Upload candidates" onClose={onClose}>
      <div class="stack">
        <h2>{first ? "Upload candidates" : "Add candidates"}</h2>
        <Dropzone
          title="Drop a CSV or Excel file here, or choose one"
          hint="A header row, then one row per candidate. It is checked first."
          onFile={check}
        />
        {file && <p class="quiet small">{file.name}</p>}
        <Complaint error={error} />
        {receipt && (
          <p class="note good">{`${plural(receipt.added, "new candidate")}, ${receipt.candidates} in all.`}</p>
        )}
        {receipt && <Findings list={receipt.warnings} tone="warn" title="Please check" />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={!receipt || receipt.added === 0} onClick={save}>
            Save
          </button>
        </div>
      </div>
    </Modal>
  );
}
