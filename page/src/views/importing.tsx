// Import a study from its archive. An archive that no trusted server has signed is taken only if a person says so.

import { useState } from "preact/hooks";
import { go, studyPath } from "../core/address.ts";
import { codeOf, query, send, token, v1 } from "../core/api.ts";
import type { Study } from "../core/types.ts";
import { Modal, toast } from "../parts/dialog.tsx";
import { Dropzone } from "../parts/field.tsx";
import { Complaint } from "../parts/states.tsx";

export function ImportStudy() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Import
      </button>
      {open && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ImportDialog({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const take = async (chosen: File, accept: boolean) => {
    setFile(chosen);
    setError(null);
    setBusy(true);
    try {
      const path = v1("archives") + query({ accept_unverified: accept || undefined });
      const headers = { "Idempotency-Key": token() };
      const study: Study = await (await send("POST", path, { body: chosen, type: "application/zip", headers })).json();
      onClose();
      toast(`${study.name} is imported.`);
      go(studyPath(study.name));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const unsigned = codeOf(error) === "unverified-archive";
  return (
    <Modal label="Import a study" onClose={onClose}>
      <div class="stack">
        <h2>Import a study</h2>
        <Dropzone
          title="Drop an archive here, or choose one"
          hint="The file that “Download everything” in a study's settings gives."
          accept=".zip"
          onFile={(chosen) => take(chosen, false)}
        />
        {busy && <p class="note">Importing …</p>}
        <Complaint error={error} />
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          {unsigned && file && (
            <button type="button" class="danger" onClick={() => take(file, true)}>
              Import it anyway
            </button>
          )}
        </div>
      </div>
    </Modal>
  );
}
