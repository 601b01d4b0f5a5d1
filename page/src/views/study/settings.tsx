// Settings: what the owner decided. Those with the right to can change it, pause, resume, archive and delete.

import { at, go } from "../../core/address.ts";
import { change, studyApi } from "../../core/api.ts";
import { fullTime } from "../../core/format.ts";
import { may } from "../../core/session.ts";
import type { Column, Study } from "../../core/types.ts";
import { ask, toast } from "../../parts/dialog.tsx";
import { Headings } from "../../parts/table.tsx";
import { openFork } from "../asking.tsx";
import { Access } from "./access.tsx";
import { Borrowed } from "./borrowed.tsx";
import { useFacts } from "./facts.ts";
import { SettingsCard } from "./settings_card.tsx";
import { settingsFields, settingsFrom } from "./settings_form.ts";

const STATES: Record<string, string> = {
  active: "You can ask for batches and report results.",
  paused: "No new batches until the study is resumed. You can still report results.",
  archived: "Read-only until it is resumed. You can still report results.",
};

interface Move {
  to: string;
  title: string;
  text: string;
  style: string;
}
const PAUSE: Move = {
  to: "paused",
  title: "Pause",
  text: "No new batches are issued until the study is resumed. You can still report results.",
  style: "",
};
const RESUME: Move = { to: "active", title: "Resume", text: "You can ask for batches again.", style: "primary" };
const ARCHIVE: Move = {
  to: "archived",
  title: "Archive",
  text: "The study becomes read-only. You can resume it later.",
  style: "danger",
};
const MOVES: Record<string, Move[]> = { active: [PAUSE, ARCHIVE], paused: [RESUME, ARCHIVE], archived: [RESUME] };

export default function Settings() {
  const facts = useFacts();
  const patch = async (body: object) => {
    await change("PATCH", studyApi(facts.name), body, { "If-Match": `"${facts.study.version}"` });
    await facts.look();
    toast("Saved.");
  };
  const editable = may("manage") && facts.study.state !== "archived";
  const edit = () => {
    const { configuration: settings, columns } = facts.study;
    const now = { settings, columns, measured: facts.summary.counts.observations > 0 };
    ask({
      title: "Change settings",
      confirm: "Save",
      fields: settingsFields(now),
      act: (values) => patch(settingsFrom(values, now)),
    });
  };
  return (
    <div class="charts">
      <SettingsCard settings={facts.study.configuration} edit={editable ? edit : null} />
      <ColumnsCard columns={facts.study.columns} />
      <StatusCard study={facts.study} patch={editable ? patch : null} />
      <Borrowed />
      <Access />
    </div>
  );
}

function roleWords({ role, expense, fingerprint }: Column): string {
  if (expense) return expense === "cost" ? "cost of a measurement" : "duration of a measurement";
  if (fingerprint) return "molecule";
  return role === "attribute" ? "only shown" : role;
}

function ColumnsCard({ columns }: { columns: Column[] }) {
  const levels = ({ levels: names }: Column) => (names.length > 6 ? `${names.length} different` : names.join(", "));
  return (
    <section class="card">
      <header>
        <h2>Columns</h2>
      </header>
      {!columns.length && <p class="quiet">None yet.</p>}
      {columns.length > 0 && (
        <div class="scroll bounded" tabIndex={0} role="region" aria-label="Columns">
          <table class="plain">
            <Headings titles={["Column", "Role", "Type", "Values"]} />
            <tbody>
              {columns.map((column) => (
                <tr key={column.name}>
                  <td>
                    <b>{column.name}</b>
                  </td>
                  <td>{roleWords(column)}</td>
                  <td>{column.kind}</td>
                  <td class="quiet small">{levels(column)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function StatusCard({ study, patch }: { study: Study; patch: ((body: object) => Promise<void>) | null }) {
  const move = ({ to, title, text, style }: Move) =>
    ask({
      title,
      text,
      confirm: title,
      danger: style === "danger",
      fields: [
        {
          name: "reason",
          label: "Reason",
          maxlength: 200,
          hint: "Optional. It is recorded in the history of the study.",
        },
      ],
      act: ({ reason }) => patch?.({ state: to, ...(reason ? { reason } : {}) }),
    });
  const remove = () =>
    ask({
      title: `Delete ${study.name}`,
      text: "It can be restored for some days, under Deleted in the list of studies. After that it is erased for good.",
      confirm: "Delete",
      danger: true,
      fields: [{ name: "typed", label: `Type ${study.name} to confirm`, required: true }],
      act: async ({ typed }) => {
        if (typed !== study.name) throw new Error(`Type the name exactly: ${study.name}`);
        await change("DELETE", `${studyApi(study.name)}?confirm=${encodeURIComponent(typed ?? "")}`);
        toast(`${study.name} was deleted.`);
        go(at(""));
      },
    });
  return (
    <section class="card wide">
      <header>
        <h2>Status</h2>
        <span class="quiet small">{`created ${fullTime(study.created_at)} · version ${study.version}`}</span>
      </header>
      <p class="quiet">{STATES[study.state]}</p>
      <div class="row top">
        {patch &&
          (MOVES[study.state] ?? []).map((step) => (
            <button type="button" class={step.style} key={step.to} onClick={() => move(step)}>
              {step.title}
            </button>
          ))}
        <span class="push" />
        {may("manage") && (
          <button type="button" onClick={() => openFork(study)}>
            Fork …
          </button>
        )}
        {may("manage") && (
          <a class="button" href={studyApi(study.name, "/archive")} download={`${study.name}.zip`}>
            Download everything
          </a>
        )}
        {may("manage") && (
          <button type="button" class="danger" onClick={remove}>
            Delete …
          </button>
        )}
      </div>
    </section>
  );
}
