// Swap a pending suggestion for the next best candidate, with a reason. The batch keeps its number; the history has both.

import { change, studyApi } from "../../core/api.ts";
import type { Batch, Suggestion } from "../../core/types.ts";
import { ask, toast } from "../../parts/dialog.tsx";

export function askToSwap(study: string, { suggestion, key }: Suggestion, done: () => Promise<void>): void {
  ask({
    title: `Swap ${key} for the next best candidate`,
    text: "The server chooses another candidate in its place, under the same conditions as the batch.",
    confirm: "Swap",
    fields: [
      { name: "reason", label: "Reason", required: true, maxlength: 500, placeholder: "not in stock" },
      {
        name: "off",
        label: `May ${key} be suggested again?`,
        options: [
          ["no", "Yes, it just does not fit now"],
          ["yes", "No, mark it as unavailable"],
        ],
        value: "no",
      },
    ],
    act: async ({ reason, off }) => {
      const body = { reason, switch_off: off === "yes" };
      const batch = await change<Batch>("POST", studyApi(study, `/suggestions/${suggestion}/swap`), body);
      toast(`${key} is replaced by ${batch.suggestions.at(-1)?.key}.`);
      await done();
    },
  });
}
