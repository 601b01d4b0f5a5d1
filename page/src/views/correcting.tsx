// Correct a result or take it back, with a reason. The old value stays in the history.

import { change, studyApi } from "../core/api.ts";
import { parse, whatToWrite } from "../core/format.ts";
import { may, me } from "../core/session.ts";
import type { Observation, Revision } from "../core/types.ts";
import { affectedWords } from "../core/words.ts";
import { ask, toast } from "../parts/dialog.tsx";

export const mayCorrect = ({ actor }: Observation): boolean => may("correct") || (may("report") && actor === me()?.id);

const versionOf = ({ version }: Observation) => ({ "If-Match": `"${version}"` });
const pathOf = (study: string, { observation }: Observation) => studyApi(study, `/observations/${observation}`);

export function correctResult(study: string, result: Observation, onDone: () => unknown): void {
  ask({
    title: `Correct ${result.key}`,
    text: "The old value stays in the history, with your reason.",
    confirm: "Correct",
    fields: [
      {
        name: "value",
        label: "New value",
        inputmode: "decimal",
        value: String(result.value),
        hint: "Leave empty to take the result back.",
      },
      { name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "read the wrong line" },
    ],
    act: async ({ value: text = "", reason = "" }) => {
      const value = text.trim() ? parse(text) : undefined;
      if (value === null) throw new Error(whatToWrite(text));
      if (value === undefined) await takeBack(study, result, reason);
      else {
        const answer = await change<Revision>(
          "POST",
          `${pathOf(study, result)}/corrections`,
          { value, reason },
          versionOf(result),
        );
        toast(`Corrected.${affectedWords(answer.affected_batches)}`);
      }
      await onDone();
    },
  });
}

export async function takeBack(study: string, result: Observation, reason: string): Promise<void> {
  const answer = await change<Revision>("POST", `${pathOf(study, result)}/retraction`, { reason }, versionOf(result));
  toast(`Taken back.${affectedWords(answer.affected_batches)}`);
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
