// The batch as a CSV sheet: taken away, filled in, and brought back. The server checks it before anything is stored.

import { send, study as path, token } from "../api.js";
import { fill, h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { explain, findings, toast } from "../parts.js";
import { dropzone } from "../drop.js";

export function sheetTools(name, batch, onSaved) {
  return [
    h("a.button", { href: path(name, `/batches/${batch.number}/sheet`), download: `${name}-batch-${batch.number}.csv` }, icon("down"), "Sheet"),
    h("button", { onclick: () => upload(name, onSaved) }, icon("up"), "Upload"),
  ];
}

function upload(name, onSaved) {
  const verdict = h(".verdict", { "aria-live": "polite" });
  const save = h("button.primary", { disabled: true }, "Save");
  const post = async (file, query, headers) => (await send("POST", `${path(name, "/observations")}?${query}`, { body: file, type: "text/csv", headers })).json();
  const check = async (file) => {
    save.disabled = true;
    fill(verdict, h("p.note", "The server is reading it …"));
    try {
      const answer = await post(file, "dry_run=true", {});
      const again = answer.results.filter((one) => one.status === "duplicate").length;
      const lost = answer.results.filter((one) => ["failed", "abandoned"].includes(one.status)).length;
      fill(verdict, h("p.note.good", h("b", `${plural(answer.recorded, "new value")}`), lost ? `, ${lost} failed or given up` : "", again ? `, ${again} there already` : ""),
        findings(answer.warnings, "warn", "Look at these"));
      const key = token(); // the same for every click, so that two save once
      save.disabled = answer.recorded + lost === 0;
      fill(save, `Save ${plural(answer.recorded + lost, "line")}`);
      save.onclick = async () => {
        save.disabled = true;
        try {
          const done = await post(file, "", { "Idempotency-Key": key });
          dialog.close();
          toast(`${plural(done.recorded, "value")} saved.`);
          await onSaved();
        } catch (error) {
          fill(verdict, h("p.note.bad", { role: "alert" }, explain(error)));
          save.disabled = false;
        }
      };
    } catch (error) {
      fill(verdict, error.errors?.length ? findings(error.errors, "bad", error.message) : h("p.note.bad", { role: "alert" }, explain(error)));
    }
  };
  const dialog = h("dialog", { "aria-label": "Upload a filled sheet", onclose: () => dialog.remove() },
    h(".stack", h("h2", "Upload a filled sheet"), dropzone({ title: "Drop the filled sheet here", hint: "CSV; it is checked first, and nothing is stored before you say so", onFile: check }), verdict,
      h(".row.end", h("button", { onclick: () => dialog.close() }, "Cancel"), save)));
  document.body.append(dialog);
  dialog.showModal();
}
