// The dialog that adds candidates: a file is checked first, and stored when everything is in order.

import "./study/details.ts";
import { useState } from "preact/hooks";
import { query, send, studyApi, token } from "../core/api.ts";
import { typeOf } from "../core/csv.ts";
import { count, plural } from "../core/format.ts";
import type { UploadReceipt } from "../core/types.ts";
import { Modal, toast } from "../parts/dialog.tsx";
import { Dropzone } from "../parts/field.tsx";
import { Complaint, Findings } from "../parts/states.tsx";
import { Descriptors } from "./descriptors.tsx";
import type { UploadProps } from "./upload.tsx";

export function UploadDialog({ name, onDone, first, onClose }: UploadProps & { onClose: () => void }) {
  const [original, setOriginal] = useState<File | null>(null);
  const [file, setFile] = useState<File | null>(null); // with the descriptors, if there are any
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
          onFile={(chosen) => {
            setOriginal(chosen);
            check(chosen);
          }}
        />
        {file && <p class="quiet small">{file.name}</p>}
        {original && <Descriptors candidates={original} onJoined={check} key={original.lastModified} />}
        <Complaint error={error} />
        {receipt && (
          <p class="note good">{`${plural(receipt.added, "new candidate")}, ${count(receipt.candidates)} in all.`}</p>
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
