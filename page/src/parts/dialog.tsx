// Dialogs and short messages. `ask` opens a dialog with fields; if `act` throws, it stays open and shows why.

import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { explain } from "../core/api.ts";
import { Field, type FieldProps } from "./field.tsx";

interface Question {
  title: string;
  text?: string;
  fields?: FieldProps[];
  confirm: string;
  danger?: boolean;
  act: (values: Record<string, string>) => unknown;
}

type Draw = (close: () => void) => ComponentChildren;

let openQuestion: (question: Question) => void = () => {};
let showDialog: (shown: { draw: Draw }) => void = () => {};
let addToast: (text: string, tone: string) => void = () => {};

export const ask = (question: Question): void => openQuestion(question);
export const openDialog = (draw: Draw): void => showDialog({ draw }); // for a dialog with a form of its own
export const toast = (text: string, tone: "" | "bad" = ""): void => addToast(text, tone);

export function Modal({
  label,
  onClose,
  children,
  wide = false,
}: {
  label: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    const first = dialog.current?.querySelector<HTMLInputElement>("input, textarea, select");
    first?.focus();
    first?.select?.();
    return () => {
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-label={label} class={wide ? "wide" : ""} onClose={onClose}>
      {children}
    </dialog>
  );
}

export function DialogHost() {
  const [question, setQuestion] = useState<Question | null>(null);
  const [shown, setShown] = useState<{ draw: Draw } | null>(null);
  openQuestion = setQuestion;
  showDialog = setShown;
  return (
    <>
      {shown?.draw(() => setShown(null))}
      {question && <QuestionDialog question={question} onClose={() => setQuestion(null)} key={question.title} />}
    </>
  );
}

function QuestionDialog({ question, onClose }: { question: Question; onClose: () => void }) {
  const { title, text, fields = [], confirm, danger, act } = question;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target as HTMLFormElement)) as Record<string, string>;
    setBusy(true);
    try {
      await act(values);
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Modal label={title} onClose={onClose}>
      <form method="dialog" onSubmit={submit}>
        <h2>{title}</h2>
        {text && <p class="quiet">{text}</p>}
        {fields.map((field) => (
          <Fragment key={field.name}>
            {field.heading && <h3 class="heading">{field.heading}</h3>}
            <Field {...field} />
          </Fragment>
        ))}
        {error !== null && (
          <p class="note bad" role="alert">
            {explain(error)}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={danger ? "danger" : "primary"} disabled={busy}>
            {confirm}
          </button>
        </div>
      </form>
    </Modal>
  );
}

interface Toast {
  id: number;
  text: string;
  tone: string;
}

export function Toasts() {
  const [list, setList] = useState<Toast[]>([]);
  const last = useRef(0);
  addToast = (text, tone) => {
    const id = ++last.current;
    setList((now) => [...now, { id, text, tone }]);
    setTimeout(() => setList((now) => now.filter((shown) => shown.id !== id)), tone === "bad" ? 8000 : 4000);
  };
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, text, tone }) => (
        <div class={`toast ${tone}`} key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
