// The batch as a sheet: downloaded, filled in, and uploaded. The server checks it before it stores anything.

import { study as path } from "../api.js";
import { h } from "../dom.js";
import { plural } from "../format.js";
import { icon } from "../icons.js";
import { downloads } from "../parts.js";
import { uploadDialog } from "../upload.js";

export function sheetTools(name, batch, onSaved) {
  const sheet = path(name, `/batches/${batch.number}/sheet`);
  const upload = () =>
    uploadDialog({
      title: "Upload a filled-in sheet",
      prompt: "Drop the filled-in sheet here, or choose it",
      method: "POST",
      address: path(name, "/observations"),
      review,
      done: (answer) => `${plural(answer.recorded, "value")} saved.`,
      onSaved,
    });
  return [
    downloads(sheet, `${name}-batch-${batch.number}`, "Sheet"),
    h("button", { onclick: upload }, icon("up"), "Upload sheet"),
  ];
}

function review({ recorded, results }) {
  const again = results.filter((result) => result.status === "duplicate").length;
  const lost = results.filter((result) => ["failed", "abandoned"].includes(result.status)).length;
  return {
    words: [
      h("b", plural(recorded, "new value")),
      lost ? `, ${lost} failed or abandoned` : "",
      again ? `, ${again} reported before` : "",
    ],
    button: recorded + lost ? `Save ${plural(recorded + lost, "row")}` : null,
  };
}
