// Add candidates to a study from a file. The dialog is read when it is first opened.

import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { toast } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";

export interface UploadProps {
  name: string;
  onDone: () => Promise<void>;
  first?: boolean;
}

type Dialog = ComponentType<UploadProps & { onClose: () => void }>;

export function UploadCandidates({ name, onDone, first = false }: UploadProps) {
  const [Open, setOpen] = useState<Dialog | null>(null);
  const open = () =>
    import("./upload_dialog.tsx").then(
      ({ UploadDialog }) => setOpen(() => UploadDialog),
      () => toast("A part of the page could not be loaded. Reload the page.", "bad"),
    );
  return (
    <>
      <button type="button" class={first ? "primary" : "small"} onClick={open}>
        <Icon name="up" size={16} />
        {first ? "Upload candidates" : "Add candidates"}
      </button>
      {Open && <Open name={name} onDone={onDone} first={first} onClose={() => setOpen(null)} />}
    </>
  );
}
