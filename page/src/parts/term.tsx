// A word with its explanation one tap away.

import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { useClosing } from "../core/hooks.ts";
import { TERMS, type TermName } from "./terms.ts";

export function Term({ name, children }: { name: TermName; children?: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLSpanElement>(null);
  useClosing(open, box, () => setOpen(false));
  const { title, text } = TERMS[name];
  return (
    <span class="term" ref={box}>
      {children}
      <button
        type="button"
        class="term-button"
        aria-label={`What is meant by “${title.toLowerCase()}”?`}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        ?
      </button>
      {open && (
        <span class="term-box" id={id} role="note">
          <b>{title}</b>
          <span>{text}</span>
        </span>
      )}
    </span>
  );
}
