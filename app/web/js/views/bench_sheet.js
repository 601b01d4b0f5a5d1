// The batch as a sheet: downloaded, filled in, and uploaded. The server checks it before it stores anything.

import { study as path, send, token } from "../api.js";
import { fill, h } from "../dom.js";
import { dropzone } from "../drop.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { downloads, explain, findings, toast } from "../parts.js";
import { mediaType } from "../xlsx.js";

export function sheetTools(name, batch, onSaved) {
  const sheet = path(name, `/batches/${batch.number}/sheet`);
  return [
    downloads(sheet, `${name}-batch-${batch.number}`, "Sheet"),
    h("button", { onclick: () => upload(name, onSaved) }, icon("up"), "Upload sheet"),
  ];
}

function upload(name, onSaved) {
  const verdict = h(".verdict", { "aria-live": "polite" });
  const save = h("button.primary", { disabled: true }, "Save");
  const post = async (file, query, headers) =>
    (
      await send("POST", `${path(name, "/observations")}?${query}`, { body: file, type: mediaType(file), headers })
    ).json();
  const check = async (file) => {
    save.disabled = true;
    fill(verdict, h("p.note", "Checking the file …"));
    try {
      const answer = await post(file, "dry_run=true", {});
      const again = answer.results.filter((result) => result.status === "duplicate").length;
      const lost = answer.results.filter((result) => ["failed", "abandoned"].includes(result.status)).length;
      fill(
        verdict,
        h(
          "p.note.good",
          h("b", `${plural(answer.recorded, "new value")}`),
          lost ? `, ${lost} failed or abandoned` : "",
          again ? `, ${again} reported before` : "",
        ),
        findings(answer.warnings, "warn", "Please check"),
      );
      const key = token(); // the same for every click, so that two clicks save once
      save.disabled = answer.recorded + lost === 0;
      fill(save, `Save ${plural(answer.recorded + lost, "row")}`);
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
      fill(
        verdict,
        error.errors?.length
          ? findings(error.errors, "bad", error.message)
          : h("p.note.bad", { role: "alert" }, explain(error)),
      );
    }
  };
  const dialog = h(
    "dialog",
    { "aria-label": "Upload a filled-in sheet", onclose: () => dialog.remove() },
    h(
      ".stack",
      h("h2", "Upload a filled-in sheet"),
      dropzone({
        title: "Drop the filled-in sheet here, or choose it",
        hint: "CSV or Excel (.xlsx). It is checked first; nothing is stored until you save.",
        onFile: check,
      }),
      verdict,
      h(".row.end", h("button", { onclick: () => dialog.close() }, "Cancel"), save),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
