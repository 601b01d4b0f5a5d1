// A dialog that takes a file, CSV or .xlsx. The server checks the file before anything is stored.

import { query, send, token } from "./api.js";
import { fill, h } from "./dom.js";
import { dropzone } from "./drop.js";
import { explain, findings, toast } from "./parts.js";
import { mediaType } from "./xlsx.js";

// `review(answer)` says what a checked file would do: { words, button }, without a button if there is nothing to save.
// `done(answer)` says what was saved.
export function uploadDialog({ title, prompt, method, address, review, done, onSaved }) {
  const verdict = h(".verdict", { "aria-live": "polite" });
  const save = h("button.primary", { disabled: true }, "Save");
  const put = async (file, parameters, headers) =>
    (await send(method, address + query(parameters), { body: file, type: mediaType(file), headers })).json();

  const check = async (file) => {
    save.disabled = true;
    fill(verdict, h("p.note", "Checking the file …"));
    try {
      const answer = await put(file, { dry_run: true }, {});
      const { words, button } = review(answer);
      fill(verdict, h("p.note.good", words), findings(answer.warnings, "warn", "Please check"));
      save.disabled = !button;
      fill(save, button ?? "Save");
      const key = token(); // the same for every click, so that two clicks save once
      save.onclick = () => store(file, key);
    } catch (error) {
      fill(verdict, complaint(error));
    }
  };

  const store = async (file, key) => {
    save.disabled = true;
    try {
      const answer = await put(file, {}, { "Idempotency-Key": key });
      dialog.close();
      toast(done(answer));
      await onSaved();
    } catch (error) {
      fill(verdict, complaint(error));
      save.disabled = false;
    }
  };

  const dialog = h(
    "dialog",
    { "aria-label": title, onclose: () => dialog.remove() },
    h(
      ".stack",
      h("h2", title),
      dropzone({
        title: prompt,
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

const complaint = (error) =>
  error.errors?.length
    ? findings(error.errors, "bad", error.message)
    : h("p.note.bad", { role: "alert" }, explain(error));
