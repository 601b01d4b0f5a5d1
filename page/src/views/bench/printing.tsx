// What can be printed of a batch: a form for a clipboard, the layout of a plate, labels.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { setSearch } from "../../core/address.ts";
import { useClosing } from "../../core/hooks.ts";
import type { Batch } from "../../core/types.ts";
import { Icon } from "../../parts/icon.tsx";
import { Failed, Loading } from "../../parts/states.tsx";
import type { BenchFacts } from "./facts.ts";

export interface PaperProps {
  name: string;
  worker: string;
  facts: BenchFacts;
  batch: Batch;
  show: string;
}

// Plates and labels are read when they are first opened: the bench stays light.
export function OnPaper(props: PaperProps) {
  const [Paper, setPaper] = useState<{ view: ComponentType<PaperProps> } | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    import("./paper.tsx").then(({ default: view }) => setPaper({ view }), setError);
  }, []);
  if (error) return <Failed error={error} again={() => location.reload()} />;
  return <div class="page">{Paper ? <Paper.view {...props} /> : <Loading part />}</div>;
}

const PAPERS: [string, string][] = [
  ["", "Form for a clipboard"],
  ["plate", "Plate layout"],
  ["labels", "Labels with codes"],
];

export function PrintMenu() {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useClosing(open, box, () => setOpen(false));
  const choose = (show: string) => {
    setOpen(false);
    if (show) setSearch({ show });
    else setTimeout(() => print());
  };
  return (
    <div class="popup-holder" ref={box}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="print" />
        Print
      </button>
      {open && (
        <div class="popup card menu">
          {PAPERS.map(([show, words]) => (
            <button type="button" class="plain" key={show} onClick={() => choose(show)}>
              {words}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
