// Report one value of a candidate, whether or not it is on a bench. An implausible value must be said twice.

import { change, Problem, studyApi } from "../../core/api.ts";
import { exact, parse, whatToWrite, withUnit } from "../../core/format.ts";
import type { ReportReceipt, Suggestion } from "../../core/types.ts";
import { ask, toast } from "../../parts/dialog.tsx";
import type { Facts } from "./facts.ts";

const DOUBTS = ["implausible-value", "extreme-value"];
const isDoubt = (error: unknown): error is Problem =>
  error instanceof Problem && error.errors.length > 0 && error.errors.every(({ code }) => DOUBTS.includes(code));

export function addResult(
  { name, summary }: Facts,
  key: string,
  pending: Suggestion | undefined,
  done: () => unknown,
): void {
  ask({
    title: `Add a result of ${key}`,
    text: pending ? "It answers the suggestion that is on a bench." : "It counts like any other result.",
    confirm: "Save",
    fields: [
      {
        name: "value",
        label: withUnit(summary.objective || "Value", summary.unit && `(${summary.unit})`),
        inputmode: "decimal",
        required: true,
      },
      { name: "measured_by", label: "Measured by", maxlength: 100, hint: "Optional." },
      { name: "note", label: "Note", maxlength: 500, hint: "Optional." },
    ],
    act: async ({ value: text = "", measured_by, note }) => {
      const value = parse(text);
      if (value === null) throw new Error(whatToWrite(text));
      const about = pending ? { suggestion: pending.suggestion } : { candidate: key };
      const report = { ...about, value, measured_by: measured_by || null, note: note || null };
      const path = `${studyApi(name, "/observations")}?${pending ? "" : "duplicates=new&"}`;
      await save(path, key, report, value, done);
    },
  });
}

async function save(path: string, key: string, report: object, value: number, done: () => unknown): Promise<void> {
  try {
    await change<ReportReceipt>("POST", `${path}implausible=refuse`, report);
  } catch (error) {
    if (!isDoubt(error)) throw error;
    const words = error.errors[0]?.message ?? "";
    setTimeout(() => askAgain(words, value, () => change("POST", `${path}implausible=accept`, report), done));
    return;
  }
  toast(`${exact(value)} saved for ${key}.`);
  await done();
}

function askAgain(words: string, value: number, send: () => Promise<unknown>, done: () => unknown): void {
  ask({
    title: `Save ${exact(value)} anyway?`,
    text: words,
    confirm: `Save ${exact(value)}`,
    danger: true,
    act: async () => {
      await send();
      await done();
    },
  });
}
