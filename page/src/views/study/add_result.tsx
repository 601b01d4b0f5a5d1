// Report a result of a candidate, whether or not it is on a bench. A value in doubt must be said twice.

import { change, studyApi } from "../../core/api.ts";
import { exact, parse, whatToWrite, withUnit } from "../../core/format.ts";
import { MEANT } from "../../core/outbox.ts";
import { isSeveral } from "../../core/quantities.ts";
import type { ReportReceipt, Suggestion, Summary } from "../../core/types.ts";
import { ask, toast } from "../../parts/dialog.tsx";
import type { FieldProps } from "../../parts/field.tsx";
import { confirmDoubt, isDoubt, quantitiesFrom, quantityFields } from "../correcting.tsx";
import type { Facts } from "./facts.ts";

export function addResult(
  { name, summary }: Facts,
  key: string,
  pending: Suggestion | undefined,
  done: () => unknown,
): void {
  const later = isSeveral(summary) ? " What is not measured yet can be reported later." : "";
  ask({
    title: `Add a result of ${key}`,
    text: `${pending ? "It answers the suggestion that is on a bench." : "It counts like any other result."}${later}`,
    confirm: "Save",
    fields: [
      ...valueFields(summary),
      { name: "measured_by", label: "Measured by", maxlength: 100, hint: "Optional." },
      { name: "note", label: "Note", maxlength: 500, hint: "Optional." },
    ],
    act: async (typed) => {
      const { told, words } = outcomeFrom(typed, summary);
      const about = pending ? { suggestion: pending.suggestion } : { candidate: key };
      const report = { ...about, ...told, measured_by: typed.measured_by || null, note: typed.note || null };
      const path = `${studyApi(name, "/observations")}?${pending ? "" : "duplicates=new&"}`;
      await save(path, report, `${words} saved for ${key}.`, words, done);
    },
  });
}

const valueFields = (summary: Summary): FieldProps[] =>
  isSeveral(summary)
    ? quantityFields(summary.quantities)
    : [
        {
          name: "value",
          label: withUnit(summary.objective || "Value", summary.unit && `(${summary.unit})`),
          inputmode: "decimal",
          required: true,
        },
      ];

function outcomeFrom(typed: Record<string, string>, summary: Summary): { told: object; words: string } {
  if (!isSeveral(summary)) {
    const value = parse(typed.value ?? "");
    if (value === null) throw new Error(whatToWrite(typed.value ?? ""));
    return { told: { value }, words: exact(value) };
  }
  const values = quantitiesFrom(typed, summary.quantities);
  const words = Object.entries(values).map(([quantity, value]) => `${quantity} ${exact(value)}`);
  if (!words.length) throw new Error("Write the value of at least one quantity.");
  return { told: { values }, words: words.join(", ") };
}

async function save(path: string, report: object, saved: string, words: string, done: () => unknown): Promise<void> {
  try {
    await change<ReportReceipt>("POST", `${path}implausible=refuse`, report);
  } catch (error) {
    if (!isDoubt(error)) throw error;
    const again = async () => {
      await change("POST", path + MEANT, report);
      await done();
    };
    confirmDoubt(error, again, `Save ${words} anyway?`);
    return;
  }
  toast(saved);
  await done();
}
