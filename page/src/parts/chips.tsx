// Small marks: the state of a study, and a candidate's key that leads to the candidate.

import { candidatePath, setSearch } from "../core/address.ts";
import type { Summary } from "../core/types.ts";

const TONES: Record<string, string> = { active: "accent", paused: "warn" };

export function StateChip({ summary }: { summary: Summary }) {
  const word = summary.finished ? "finished" : summary.state;
  return <span class={`chip ${summary.finished ? "accent" : (TONES[word] ?? "")}`}>{word}</span>;
}

// A click opens the candidate beside the view; its address opens it alone.
export function KeyLink({ study, id }: { study: string; id: string }) {
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    setSearch({ candidate: id });
  };
  return (
    <a class="key clip" href={candidatePath(study, id)} title={id} onClick={open}>
      {id}
    </a>
  );
}

// The colour of a line in a chart, beside its name in a table; none for a line that is not drawn.
export const Swatch = ({ line }: { line: number | "dashed" | "none" }) => (
  <span class={`swatch ${typeof line === "number" ? `line-${line % 5}` : line}`} />
);
