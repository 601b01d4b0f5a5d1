// The batch as a sheet: downloaded, filled in, and uploaded. The server checks it before it stores anything.

import { useState } from "preact/hooks";
import { send, studyApi, token } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import type { Batch, ReportReceipt } from "../../core/types.ts";
import { Modal, toast } from "../../parts/dialog.tsx";
import { Dropzone } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Complaint, Findings } from "../../parts/states.tsx";
import { typeOf } from "../upload.tsx";

interface SheetProps {
  name: string;
  batch: Batch;
  onSaved: () => Promise<void>;
}

export function SheetTools({ name, batch, onSaved }: SheetProps) {
  const [open, setOpen] = useState(false);
  const sheet = studyApi(name, `/batches/${batch.number}/sheet`);
  const file = `${name}-batch-${batch.number}`;
  return (
    <>
      <a class="button" href={sheet} download={`${file}.csv`}>
        <Icon name="down" />
        Download sheet
      </a>
      <a class="button" href={`${sheet}?format=xlsx`} download={`${file}.xlsx`} aria-label="Excel file of the batch">
        Excel
      </a>
      <button type="button" onClick={() => setOpen(true)}>
        <Icon name="up" />
        Upload sheet
      </button>
      {open && <Upload name={name} onSaved={onSaved} onClose={() => setOpen(false)} />}
    </>
  );
}

function Upload({ name, onSaved, onClose }: Omit<SheetProps, "batch"> & { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [receipt, setReceipt] = useState<ReportReceipt | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [key, setKey] = useState(""); // the same for every click, so that two clicks save once
  const post = async (chosen: File, query: string, headers = {}): Promise<ReportReceipt> => {
    const path = `${studyApi(name, "/observations")}?${query}`;
    return (await send("POST", path, { body: chosen, type: typeOf(chosen), headers })).json();
  };
  const check = async (chosen: File) => {
    setReceipt(null);
    setError(null);
    setFile(chosen);
    setKey(token());
    try {
      setReceipt(await post(chosen, "dry_run=true"));
    } catch (problem) {
      setError(problem);
    }
  };
  const save = async () => {
    if (!file) return;
    setBusy(true);
    try {
      const done = await post(file, "", { "Idempotency-Key": key });
      onClose();
      toast(`${plural(done.recorded, "value")} saved.`);
      await onSaved();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const count = (...states: string[]) => receipt?.results.filter(({ status }) => states.includes(status)).length ?? 0;
  const lost = count("failed", "abandoned");
  const again = count("duplicate");
  const rows = (receipt?.recorded ?? 0) + lost;
  return (
    <Modal label="Upload a filled-in sheet" onClose={onClose}>
      <div class="stack">
        <h2>Upload a filled-in sheet</h2>
        <Dropzone
          title="Drop the filled-in sheet here, or choose it"
          hint="CSV or Excel. It is checked first; nothing is stored until you save."
          onFile={check}
        />
        <div class="verdict" aria-live="polite">
          {file && !receipt && !error && <p class="note">Checking the file …</p>}
          <Complaint error={error} />
          {receipt && (
            <p class="note good">
              <b>{plural(receipt.recorded, "new value")}</b>
              {lost > 0 && `, ${lost} failed or abandoned`}
              {again > 0 && `, ${again} reported before`}
            </p>
          )}
          {receipt && <Findings list={receipt.warnings} tone="warn" title="Please check" />}
        </div>
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={!receipt || rows === 0 || busy} onClick={save}>
            {receipt ? `Save ${plural(rows, "row")}` : "Save"}
          </button>
        </div>
      </div>
    </Modal>
  );
}
