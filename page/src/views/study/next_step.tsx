// What to do next: ask, wait or stop, and why. The server's advice where it gives one, else what the counts say.

import { benchPath, go } from "../../core/address.ts";
import { difference, localised, plural } from "../../core/format.ts";
import { may } from "../../core/session.ts";
import type { Summary } from "../../core/types.ts";
import { askForBatch } from "../asking.tsx";
import { type Facts, useFacts } from "./facts.ts";

interface Step {
  title: string;
  why: string;
  act?: "ask" | "bench";
}

const ADVICE = {
  ask: "Ask for the next batch",
  "wait for results": "Report the measurements under way",
  stop: "You can stop here",
};

const ACTS: Record<keyof typeof ADVICE, Step["act"]> = { ask: "ask", "wait for results": "bench", stop: undefined };

function stepOf({ summary }: Facts): Step {
  const { counts, finished, state, open_batches: open, outlook } = summary;
  const overdue = open.filter((batch) => batch.overdue);
  if (state === "archived") return { title: "Nothing: the study is archived", why: "Resume it to go on." };
  if (state === "paused") return { title: "Resume the study to go on", why: "No new batches while it is paused." };
  if (finished) return { title: "You can stop here", why: "The rule you set for the end of the study is met." };
  if (overdue.length)
    return {
      title: `Look after ${overdue.map((batch) => batch.worker).join(" and ")}`,
      why: `${plural(overdue.length, "batch", "batches")} took longer than planned. Report what is there, or abandon the rest.`,
      act: "bench",
    };
  const advice = outlook?.advice;
  if (advice?.do === "stop" && counts.pending)
    return { title: "Report what is pending, then stop", why: localised(advice.why), act: "bench" };
  if (advice)
    return {
      title: ADVICE[advice.do],
      why: localised(advice.why),
      act: ACTS[advice.do],
    };
  if (!counts.observations && !counts.pending)
    return {
      title: "Ask for the first batch",
      why: "It is spread over the whole list, so that there is something to learn from.",
      act: "ask",
    };
  if (counts.pending)
    return {
      title: "Report the measurements under way",
      why: `${plural(counts.pending, "measurement")} pending on ${open.map((batch) => batch.worker).join(", ")}. The next choice gets better with each result.`,
      act: "bench",
    };
  return { title: "Ask for the next batch", why: certificateWords(summary), act: "ask" };
}

function certificateWords({ certificate, unit }: Summary): string {
  if (!certificate) return "Everything asked for is measured.";
  return `Another candidate could be better by up to ${difference(certificate.regret_bound, unit)}. If that is not worth a batch to you, stop.`;
}

export function NextStep() {
  const facts = useFacts();
  const { name, summary, look } = facts;
  const step = stepOf(facts);
  const [bench] = summary.open_batches;
  return (
    <section class="card next-step" aria-label="What next">
      <div>
        <p class="quiet small">What next</p>
        <h2>{step.title}</h2>
        <p class="quiet">{step.why}</p>
      </div>
      {step.act === "bench" && bench && may("report") && (
        <a class="button" href={benchPath(name, bench.worker)}>
          {`Open ${bench.worker}`}
        </a>
      )}
      {step.act === "ask" && may("ask") && summary.counts.available > 0 && (
        <button
          type="button"
          class="primary"
          onClick={() =>
            askForBatch(name, (batch) => {
              look();
              go(benchPath(name, batch.worker));
            })
          }
        >
          Ask now
        </button>
      )}
    </section>
  );
}
