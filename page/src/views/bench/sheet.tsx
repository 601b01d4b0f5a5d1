// The batch as a sheet: downloaded, filled in, and uploaded.

import { useState } from "preact/hooks";
import { studyApi } from "../../core/api.ts";
import type { Batch, Quantity } from "../../core/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { SheetUpload } from "./sheet_upload.tsx";

interface SheetProps {
  name: string;
  batch: Batch;
  quantities: Quantity[];
  onSaved: () => Promise<void>;
}

export function SheetTools({ name, batch, quantities, onSaved }: SheetProps) {
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
      {open && <SheetUpload name={name} quantities={quantities} onSaved={onSaved} onClose={() => setOpen(false)} />}
    </>
  );
}
