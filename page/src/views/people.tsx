// People and their keys: who may do what, in which studies. Administrators create and revoke them here.

import { useState } from "preact/hooks";
import { change, get, v1 } from "../core/api.ts";
import { ago, fullTime } from "../core/format.ts";
import { useRead, useTitle } from "../core/hooks.ts";
import { may, me, signInAddress } from "../core/session.ts";
import type { Key, NewKey, Role } from "../core/types.ts";
import { ask, Modal, toast } from "../parts/dialog.tsx";
import { QrCode } from "../parts/qr.tsx";
import { Failed, Loading, refusal } from "../parts/states.tsx";
import { Headings } from "../parts/table.tsx";
import { AuditLog } from "./audit_log.tsx";

const ROLES: Record<Role, string> = {
  technician: "reports results, corrects its own",
  client: "reports results and asks for batches: a robot or a script",
  dashboard: "only looks: a screen on the wall",
  scientist: "creates and runs studies",
  admin: "everything, in every study, and these keys",
};

export default function People() {
  const allowed = may("keys");
  const { data, error, reload } = useRead(allowed ? () => get<{ keys: Key[] }>(v1("keys")) : null, []);
  const [made, setMade] = useState<NewKey | null>(null);
  useTitle("People");
  if (!allowed) return <Failed error={refusal("Only admins can see and change keys.")} />;
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading />;
  const create = () =>
    ask({
      title: "New key",
      text: "One key for each person or device, so that the history says who did what.",
      confirm: "Create",
      fields: [
        { name: "name", label: "Name", required: true, maxlength: 100, placeholder: "Dr. Ada Weber" },
        {
          name: "role",
          label: "Role",
          options: Object.entries(ROLES).map(([role, words]) => [role, `${role}: ${words}`]),
          value: "technician",
        },
        {
          name: "studies",
          label: "Studies",
          hint: "Names, separated by commas. You can add more later in each study's settings.",
        },
        { name: "expires", label: "Valid until", kind: "date", hint: "Leave empty for no end." },
      ],
      act: async ({ name, role, studies = "", expires }) => {
        const body = {
          name,
          role,
          studies: studies
            .split(",")
            .map((study) => study.trim())
            .filter(Boolean),
          ...(expires ? { expires_at: new Date(`${expires}T23:59:59`).toISOString() } : {}),
        };
        const key = await change<NewKey>("POST", v1("keys"), body);
        reload();
        setMade(key);
      },
    });
  const revoke = (key: Key) =>
    ask({
      title: `Revoke the key of ${key.name}`,
      text: "It stops working at once, on every device. This cannot be undone.",
      confirm: "Revoke",
      danger: true,
      act: async () => {
        await change("POST", v1(`keys/${encodeURIComponent(key.id)}/revocation`));
        toast(`The key of ${key.name} is revoked.`);
        reload();
      },
    });
  return (
    <div class="page">
      <div class="head">
        <h1>People and keys</h1>
        <span class="push" />
        <button type="button" class="primary" onClick={create}>
          New key
        </button>
      </div>
      <section class="card">
        <div class="scroll" tabIndex={0} role="region" aria-label="Keys, scrollable">
          <table class="plain people">
            <Headings titles={["Name", "Role", "Studies", "Created", "Last used", "State", "Revoke"]} />
            <tbody>
              {data.keys.map((key) => (
                <Line listed={key} onRevoke={() => revoke(key)} key={key.id} />
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section class="card">
        <header>
          <h2>What a role may do</h2>
        </header>
        <dl class="words">
          {Object.entries(ROLES).map(([role, words]) => (
            <div key={role}>
              <dt>{role}</dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
      </section>
      <AuditLog />
      {made && <Made made={made} onClose={() => setMade(null)} />}
    </div>
  );
}

function stateOf({ revoked_at: revoked, expires_at: expires }: Key): string {
  if (revoked) return `revoked ${fullTime(revoked)}`;
  if (!expires) return "valid";
  return `${Date.parse(expires) < Date.now() ? "expired" : "valid until"} ${fullTime(expires)}`;
}

function Line({ listed, onRevoke }: { listed: Key; onRevoke: () => void }) {
  const { id, name, role, studies, created_at, last_used_at, revoked_at } = listed;
  return (
    <tr>
      <td>
        <b>{name}</b>
        <span class="quiet small mono gap">{id}</span>
        {id === me()?.id && <span class="chip accent gap">you</span>}
      </td>
      <td title={ROLES[role]}>{role}</td>
      <td class="small">{role === "admin" ? "all" : studies.join(", ") || "none"}</td>
      <td class="nowrap small">{fullTime(created_at)}</td>
      <td class="nowrap small" title={last_used_at ? fullTime(last_used_at) : undefined}>
        {last_used_at ? ago(last_used_at) : "never"}
      </td>
      <td class="small">{stateOf(listed)}</td>
      <td>
        {!revoked_at && id !== me()?.id && (
          <button type="button" class="small danger" aria-label={`Revoke the key of ${name}`} onClick={onRevoke}>
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}

function Made({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const copy = async () => {
    await navigator.clipboard?.writeText(made.key ?? "");
    toast("Copied.");
  };
  return (
    <Modal label={`The key of ${made.name}`} onClose={onClose}>
      <div class="stack">
        <h2>{`The key of ${made.name}`}</h2>
        <p class="quiet">Copy it now: the server does not keep it and cannot show it again.</p>
        <input class="mono" readOnly value={made.key ?? ""} aria-label="The new key" />
        <div class="key-code">
          <QrCode text={signInAddress(made.key ?? "")} label="Code to sign a tablet in" />
          <p class="quiet small">
            Or scan this with the camera of a tablet or phone: it opens the page there with the key filled in. Anyone
            who sees the code can use the key.
          </p>
        </div>
        <div class="row end">
          <button type="button" onClick={copy}>
            Copy
          </button>
          <button type="button" class="primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Modal>
  );
}
