// Suggestions that have no result: what failed, and what was abandoned. Why is in the timeline.

import { studyPath } from "../../core/address.ts";
import { studyApi } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import { useGet } from "../../core/hooks.ts";
import type { Bench, Suggestion } from "../../core/types.ts";
import { batchOf, stateWords } from "../../core/words.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { useFacts } from "./facts.ts";

const newestFirst = (a: Suggestion, b: Suggestion) => (batchOf(b.suggestion) ?? 0) - (batchOf(a.suggestion) ?? 0);

export function Unmeasured() {
  const { name, summary } = useFacts();
  const suggested = (state: string) => `${studyApi(name, "/suggestions")}?state=${state}`;
  const failed = useGet<Bench>(suggested("failed"), summary.seq).data?.suggestions ?? [];
  const abandoned = useGet<Bench>(suggested("abandoned"), summary.seq).data?.suggestions ?? [];
  const all = [...failed, ...abandoned].sort(newestFirst);
  if (!all.length) return null;
  return (
    <details class="card unmeasured">
      <summary>{`${plural(failed.length, "measurement")} failed, ${abandoned.length} abandoned`}</summary>
      <ul class="key-list">
        {all.map(({ suggestion, key, state }) => (
          <li key={suggestion}>
            <KeyLink study={name} id={key} />
            <span class="quiet small">{`${stateWords(state)}, batch ${batchOf(suggestion)}`}</span>
          </li>
        ))}
      </ul>
      <p class="quiet small">
        {"The reasons are in the "}
        <a href={studyPath(name, "events")}>timeline</a>.
      </p>
    </details>
  );
}
