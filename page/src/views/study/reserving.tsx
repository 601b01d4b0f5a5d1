// Reservations: candidates that somebody will measure without a batch. Others are not asked to measure them.

import { change, get, studyApi } from "../../core/api.ts";
import { ago, plural } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import { may } from "../../core/session.ts";
import type { Reservation, Reservations } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { ask, toast } from "../../parts/dialog.tsx";
import { Term } from "../../parts/term.tsx";
import { lastWorker, rememberWorker } from "../asking.tsx";
import { type Facts, useFacts } from "./facts.ts";

export const readReservations = async (name: string): Promise<readonly Reservation[]> =>
  (await get<Reservations>(studyApi(name, "/reservations"))).reservations;

export const mayReserve = ({ study }: Facts): boolean => may("ask") && study.state === "active";

export function reserve({ name }: Facts, key: string, done: () => unknown): void {
  ask({
    title: `Reserve ${key}`,
    text: "Nobody else is asked to measure it, and it counts as pending. A result of it ends the reservation.",
    confirm: "Reserve",
    fields: [
      { name: "worker", label: "Who will measure it", value: lastWorker(), required: true, maxlength: 100 },
      {
        name: "reason",
        label: "Reason",
        maxlength: 200,
        hint: "Optional. It is recorded in the history of the study.",
      },
    ],
    act: async ({ worker = "", reason }) => {
      await change("POST", studyApi(name, "/reservations"), { keys: [key], worker, ...(reason ? { reason } : {}) });
      rememberWorker(worker);
      toast(`${key} is reserved for ${worker}.`);
      await done();
    },
  });
}

export async function release({ name }: Facts, key: string, done: () => unknown): Promise<void> {
  const path = key.split("/").map(encodeURIComponent).join("/");
  await change("DELETE", studyApi(name, `/reservations/${path}`));
  toast(`${key} can be suggested to anybody again.`);
  await done();
}

// The list of all reservations; nothing while there are none.
export function ReservedCard() {
  const facts = useFacts();
  const { name, summary, look } = facts;
  const { data, reload } = useRead(summary.counts.reserved ? () => readReservations(name) : null, [name, summary.seq]);
  if (!summary.counts.reserved || !data) return null;
  const done = async () => {
    await look();
    reload();
  };
  return (
    <section class="card wide">
      <header>
        <h2>
          <Term name="reserved">Reserved</Term>
        </h2>
        <span class="quiet small">{plural(data.length, "candidate")}</span>
      </header>
      <ul class="benches reserved">
        {data.map((reservation) => (
          <li key={reservation.key}>
            <KeyLink study={name} id={reservation.key} />
            <span class="small">{`for ${reservation.worker}`}</span>
            <span class="quiet small">
              {[ago(reservation.reserved_at), reservation.reason].filter(Boolean).join(" · ")}
            </span>
            <span class="push" />
            {mayReserve(facts) && (
              <button
                type="button"
                class="small"
                aria-label={`Release ${reservation.key}`}
                onClick={() => release(facts, reservation.key, done)}
              >
                Release
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
