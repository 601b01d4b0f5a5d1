// Correct a result or take it back, with a reason. The old value stays in the history.

import { change, Problem, studyApi } from "../core/api.ts";
import { parse, plural, whatToWrite } from "../core/format.ts";
import { DOUBTS } from "../core/outbox.ts";
import { quantityTitle } from "../core/quantities.ts";
import { may, me } from "../core/session.ts";
import type { LedgerEvent, Observation, Quantity, Revision, UploadRetraction } from "../core/types.ts";
import { affectedWords } from "../core/words.ts";
import { ask, toast } from "../parts/dialog.tsx";
import type { FieldProps } from "../parts/field.tsx";

export const mayCorrect = ({ actor }: Observation): boolean => may("correct") || (may("report") && actor === me()?.id);

const versionOf = ({ version }: Observation) => ({ "If-Match": `"${version}"` });
const pathOf = (study: string, { observation }: Observation) => studyApi(study, `/observations/${observation}`);

export function correctResult(study: string, result: Observation, quantities: Quantity[], onDone: () => unknown): void {
  const several = quantities.length > 1;
  const back = several ? "Leave all of them empty to take the result back." : "Leave empty to take the result back.";
  ask({
    title: `Correct ${result.key}`,
    text: `The old value stays in the history, with your reason.${several ? ` ${back}` : ""}`,
    confirm: "Correct",
    fields: [
      ...(several ? quantityFields(quantities, result) : [onlyField(result, back)]),
      { name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "read the wrong line" },
    ],
    act: async (typed) => {
      const reason = typed.reason ?? "";
      const told = several ? severalFrom(typed, quantities, result) : onlyFrom(typed.value ?? "");
      if (!told) await takeBack(study, result, reason);
      else await correct(study, result, { ...told, reason }, onDone);
      await onDone();
    },
  });
}

const onlyField = (result: Observation, hint: string): FieldProps => ({
  name: "value",
  label: "New value",
  inputmode: "decimal",
  value: String(result.value),
  hint,
});

export const quantityFields = (quantities: Quantity[], result?: Observation): FieldProps[] =>
  quantities.map((quantity, position) => ({
    name: `quantity ${position}`,
    label: quantityTitle(quantity),
    inputmode: "decimal",
    value: result?.values[quantity.name]?.value ?? "",
  }));

function read(text: string): number {
  const value = parse(text);
  if (value === null) throw new Error(whatToWrite(text));
  return value;
}

const onlyFrom = (text: string) => (text.trim() ? { value: read(text) } : null);

// The quantities that were filled in, by name; nothing if all are empty.
export function quantitiesFrom(typed: Record<string, string>, quantities: Quantity[]): Record<string, number> {
  const filled = quantities.flatMap(({ name }, position): [string, number][] => {
    const text = typed[`quantity ${position}`]?.trim();
    return text ? [[name, read(text)]] : [];
  });
  return Object.fromEntries(filled);
}

function severalFrom(typed: Record<string, string>, quantities: Quantity[], result: Observation) {
  const values = quantitiesFrom(typed, quantities);
  const emptied = Object.keys(result.values).filter((name) => !(name in values));
  if (emptied.length === Object.keys(result.values).length && !Object.keys(values).length) return null;
  if (emptied.length)
    throw new Error(`${emptied.join(" and ")} cannot be emptied alone. Write a value, or take the whole result back.`);
  return { values };
}

type Told = { value?: number; values?: Record<string, number>; reason: string };

async function correct(study: string, result: Observation, told: Told, onDone: () => unknown): Promise<void> {
  const send = (query: string) =>
    change<Revision>("POST", `${pathOf(study, result)}/corrections${query}`, told, versionOf(result));
  const say = ({ affected_batches }: Revision) => toast(`Corrected.${affectedWords(affected_batches)}`);
  try {
    say(await send(""));
  } catch (error) {
    if (!isDoubt(error)) throw error;
    confirmDoubt(error, async () => {
      say(await send("?outside_limits=accept"));
      await onDone();
    });
  }
}

export const isDoubt = (error: unknown): error is Problem =>
  error instanceof Problem && error.errors.length > 0 && error.errors.every(({ code }) => DOUBTS.includes(code));

// A value in doubt is saved when a person says that it is meant.
export function confirmDoubt(doubt: Problem, act: () => Promise<unknown>, title = "Save it anyway?"): void {
  const text = doubt.errors.map(({ message }) => message).join(" ");
  setTimeout(() => ask({ title, text, confirm: title.replace(/ anyway\?$/, ""), danger: true, act }));
}

export async function takeBack(study: string, result: Observation, reason: string): Promise<void> {
  const answer = await change<Revision>("POST", `${pathOf(study, result)}/retraction`, { reason }, versionOf(result));
  toast(`Taken back.${affectedWords(answer.affected_batches)}`);
}

// The upload that an event begins, if this person may take it back.
export function uploadOf({ type, seq, actor, payload }: LedgerEvent): number | null {
  if (!type.startsWith("observations-reported") || !(may("correct") || (may("report") && actor === me()?.id)))
    return null;
  return JSON.parse(payload).upload === seq ? seq : null;
}

export function askToTakeBackUpload(study: string, upload: number, onDone: () => unknown): void {
  ask({
    title: "Take back all of this report",
    text: "Everything that came with it no longer counts. It stays in the history, and the right sheet can be sent.",
    confirm: "Take back",
    danger: true,
    fields: [{ name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "wrong sheet" }],
    act: async ({ reason = "" }) => {
      const path = studyApi(study, "/observations/retractions");
      const answer = await change<UploadRetraction>("POST", path, { upload, reason });
      const taken = plural(answer.retracted.length, "result");
      toast(`${taken} taken back.${affectedWords(answer.affected_batches)}`);
      await onDone();
    },
  });
}

export function askToTakeBack(study: string, results: Observation[], onDone: () => unknown): void {
  const [first] = results;
  if (!first) return;
  const what = results.length === 1 ? `the result of ${first.key}` : `${results.length} results`;
  ask({
    title: `Take back ${what}`,
    text: "The values no longer count. They stay in the history, with your reason.",
    confirm: "Take back",
    danger: true,
    fields: [{ name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "wrong vial" }],
    act: async ({ reason = "" }) => {
      for (const result of results) await takeBack(study, result, reason);
      await onDone();
    },
  });
}
