// What happened with keys, access and whole studies, for admins: the audit log of the server.

import { useState } from "preact/hooks";
import { explain, pages, send, v1 } from "../core/api.ts";
import { count, fullTime, plural } from "../core/format.ts";
import { useRead } from "../core/hooks.ts";
import type { AuditEntry, AuditPage, AuditVerified } from "../core/types.ts";
import { actorWords, learnAllNames, nameOfKey } from "../core/words.ts";
import { Headings } from "../parts/table.tsx";

const SHOWN = 50;

const ACTIONS: Record<string, string> = {
  "key-created": "Key created",
  "key-revoked": "Key revoked",
  "access-given": "Access given",
  "access-taken": "Access withdrawn",
  "signed-in": "Signed in",
  "study-exported": "Study exported",
  "study-brought-in": "Study imported",
  "study-removed": "Study deleted",
  "tables-rebuilt": "Tables rebuilt",
  read: "Read",
};

async function readLog(): Promise<AuditEntry[]> {
  await learnAllNames();
  const all: AuditEntry[] = [];
  for await (const page of pages<AuditPage>(v1("audit"))) all.push(...page.entries);
  return all.reverse();
}

export function AuditLog() {
  const { data } = useRead(readLog, []);
  const [all, setAll] = useState(false);
  const [verdict, setVerdict] = useState("");
  const verify = async () => {
    setVerdict("Checking …");
    try {
      const answer: AuditVerified = await (await send("POST", v1("audit/verify"))).json();
      setVerdict(
        answer.sound ? `All ${count(answer.entries)} entries are intact.` : `Entry ${answer.broken_at} was altered.`,
      );
    } catch (error) {
      setVerdict(explain(error));
    }
  };
  if (!data) return null;
  return (
    <section class="card">
      <header>
        <h2>What happened with keys and access</h2>
        <span class="quiet small">{plural(data.length, "entry", "entries")}, newest first</span>
        <span class="push" />
        <span class="small" role="status">
          {verdict}
        </span>
        <button type="button" class="small" onClick={verify}>
          Verify the log
        </button>
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Log, scrollable">
        <table class="plain">
          <Headings titles={["When", "What", "Concerning", "By", "From"]} />
          <tbody>
            {data.slice(0, all ? data.length : SHOWN).map((entry) => (
              <tr key={entry.seq}>
                <td class="nowrap small">{fullTime(entry.recorded_at)}</td>
                <td>{ACTIONS[entry.action] ?? entry.action}</td>
                <td class="small">{concerning(entry)}</td>
                <td>{actorWords(entry.actor)}</td>
                <td class="mono small">{entry.address ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!all && data.length > SHOWN && (
        <div class="row top">
          <button type="button" class="small" onClick={() => setAll(true)}>
            {`Show all ${count(data.length)}`}
          </button>
        </div>
      )}
    </section>
  );
}

// The details of an entry in words: names instead of ids, and whatever else was recorded.
const concerning = ({ details }: AuditEntry): string =>
  Object.entries(JSON.parse(details) as Record<string, unknown>)
    .map(([name, value]) => detailWords(name, value))
    .filter(Boolean)
    .join(", ");

function detailWords(name: string, value: unknown): string {
  if (value === null || value === "" || value === false || (Array.isArray(value) && !value.length)) return "";
  if (name === "remember") return "stays signed in";
  if (name === "key") return `key of ${nameOfKey(String(value))}`;
  if (Array.isArray(value)) return `${name} ${value.join(", ")}`;
  return `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`;
}
