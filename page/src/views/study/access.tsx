// Who has access to the study: keys of administrators' lists, granted and withdrawn here.

import { change, get, studyApi, v1 } from "../../core/api.ts";
import { useRead } from "../../core/hooks.ts";
import { may } from "../../core/session.ts";
import type { Key } from "../../core/types.ts";
import { toast } from "../../parts/dialog.tsx";
import { useFacts } from "./facts.ts";

export function Access() {
  const { name } = useFacts();
  const { data, reload } = useRead(may("keys") ? () => get<{ keys: Key[] }>(v1("keys")) : null, [name]);
  if (!data) return null;
  const keys = data.keys.filter((key) => !key.revoked_at && key.role !== "admin");
  const turn = async (key: Key, granted: boolean) => {
    await change(granted ? "PUT" : "DELETE", studyApi(name, `/grants/${encodeURIComponent(key.id)}`));
    toast(granted ? `${key.name} can now see ${name}.` : `${key.name} no longer has access to ${name}.`);
    reload();
  };
  return (
    <section class="card wide">
      <header>
        <h2>Access</h2>
        <span class="quiet small">Administrators see every study.</span>
      </header>
      {!keys.length && <p class="quiet">There are no other keys yet.</p>}
      <div class="access">
        {keys.map((key) => (
          <label class="check" key={key.id}>
            <input
              type="checkbox"
              checked={key.studies.includes(name)}
              onChange={(event) => turn(key, event.currentTarget.checked)}
            />
            {key.name}
            <span class="quiet small">{key.role}</span>
          </label>
        ))}
      </div>
    </section>
  );
}
