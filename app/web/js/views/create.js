// Create a study from a CSV or .xlsx file: drop the file, say what the columns are and what is measured.

import { study as path, query, send, token } from "../api.js";
import { preview } from "../csv.js";
import { delayed, fill, h } from "../dom.js";
import { dropzone } from "../drop.js";
import { plural } from "../format.js";
import { explain, failed, findings, toast } from "../parts.js";
import { go, studyPath } from "../router.js";
import { may } from "../session.js";
import { isXlsx, mediaType, preview as previewXlsx } from "../xlsx.js";
import { settingsForm } from "./create_settings.js";

const ROLES = [
  ["feature", "feature"],
  ["attribute", "shown only"],
  ["key", "key"],
];

export function create(root) {
  if (!may("manage")) {
    fill(root, failed({ status: 403, message: "Only scientists and admins can create studies." }));
    return {};
  }
  let file = null,
    roles = new Map(),
    table = null,
    round = 0;
  const verdict = h(".verdict", { "aria-live": "polite" }),
    shown = h(".preview"),
    fileName = h("span.quiet.small");
  const form = settingsForm();
  const button = h("button.primary", { type: "submit", disabled: true }, "Create the study");
  const complaint = h(".complaint");

  const columnQuery = () => {
    const of = (role) => [...roles].filter(([, assigned]) => assigned === role).map(([name]) => name);
    return query({ key: of("key")[0], attribute: of("attribute") });
  };

  async function take(chosen) {
    file = chosen;
    table = isXlsx(chosen) ? await previewXlsx(chosen) : preview(await chosen.slice(0, 200_000).text());
    const key =
      table.header.find((name) => name.toLowerCase() === "key") ??
      table.header.find((name) => /^(id|name|sample|label)$/i.test(name));
    roles = new Map(table.header.map((name) => [name, name === key ? "key" : "feature"]));
    fill(fileName, `${chosen.name}, ${Math.max(1, Math.round(chosen.size / 1024))} kB`);
    form.suggestName(chosen.name);
    step.classList.add("filled");
    draw();
    check();
  }

  const check = delayed(async () => {
    const mine = ++round;
    button.disabled = true;
    fill(verdict, h("p.note", "Checking the file …"));
    try {
      const answer = await (
        await send("POST", `/v1/candidates/check${columnQuery()}`, { body: file, type: mediaType(file) })
      ).json();
      if (mine !== round) return;
      const features = answer.columns.filter((column) => column.role === "feature");
      fill(
        verdict,
        h(
          "p.note.good",
          h("b", `${plural(answer.candidates, "candidate")}, ${plural(features.length, "feature")}`),
          `: ${features.map((column) => `${column.name} (${column.kind === "text" ? plural(column.levels.length, "value") : column.kind})`).join(", ")}`,
        ),
        findings(answer.warnings, "warn", plural(answer.warnings.length, "warning")),
      );
      button.disabled = false;
    } catch (error) {
      if (mine !== round) return;
      fill(
        verdict,
        error.errors?.length
          ? findings(error.errors, "bad", `${error.message} Correct the file and drop it again.`)
          : h("p.note.bad", { role: "alert" }, explain(error)),
      );
    }
  }, 150);

  function draw() {
    fill(
      shown,
      h(
        ".scroll",
        { tabindex: "0", role: "region", "aria-label": "The first rows of the file" },
        h(
          "table.plain.roles",
          h(
            "thead",
            h(
              "tr",
              table.header.map((name) => h("th", { scope: "col" }, name)),
            ),
            h(
              "tr",
              table.header.map((name) =>
                h(
                  "td",
                  h(
                    "select",
                    { "aria-label": `Role of ${name}`, onchange: (event) => assign(name, event.target.value) },
                    ROLES.map(([role, text]) => h("option", { value: role, selected: roles.get(name) === role }, text)),
                  ),
                ),
              ),
            ),
          ),
          h(
            "tbody",
            table.rows.map((row) =>
              h(
                "tr",
                table.header.map((name, i) => h("td.number", { class: roles.get(name) }, row[i] ?? "")),
              ),
            ),
          ),
        ),
      ),
    );
  }

  function assign(name, role) {
    if (role === "key") for (const [other, assigned] of roles) if (assigned === "key") roles.set(other, "attribute");
    roles.set(name, role);
    draw();
    check();
  }

  const begun = new Set(); // studies that this form has created: a second try continues where the first ended

  // Creates the study. One that has candidates already is somebody's work, and this form adds nothing to it.
  async function createStudy(name, settings) {
    const answer = await send("PUT", path(name), { body: settings, headers: { "Idempotency-Key": token() } });
    const { candidates } = await answer.json();
    if (answer.status === 201) begun.add(name);
    if (candidates && !begun.has(name)) throw Object.assign(new Error(), { code: "study-exists" });
  }

  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    fill(complaint);
    const { name, settings } = form.read();
    try {
      await createStudy(name, settings);
      await send("PUT", path(name, "/candidates") + columnQuery(), {
        body: file,
        type: mediaType(file),
        headers: { "Idempotency-Key": token() },
      });
      toast(`Study ${name} is ready.`);
      go(studyPath(name));
    } catch (error) {
      fill(complaint, complain(error, name));
      button.disabled = false;
    }
  };

  const step = h(
    "section.card.step",
    h("header", h("h2", "The candidates"), h("span.push"), fileName),
    dropzone({
      title: "Drop a CSV or Excel file here, or choose one",
      hint: "A header row, then one row per candidate",
      onFile: take,
    }),
    shown,
    verdict,
  );
  fill(
    root,
    h(
      ".page.narrow",
      h(".head", h("h1", "New study")),
      h(
        "form.steps",
        { onsubmit: submit },
        step,
        form.element,
        complaint,
        h(".row.end", h("a.button", { href: "/" }, "Cancel"), button),
      ),
    ),
  );
  for (const name of ["dragover", "drop"]) root.addEventListener(name, (event) => event.preventDefault());
  return {};
}

const TAKEN = ["study-exists", "candidates-exist", "candidates-in-use"];
const TAKEN_UNSEEN = {
  "study-not-found": "by a study that your key has no access to",
  "study-deleted": "by a study that was deleted",
};

// Why the study was not created; a name that is taken never replaces anything.
function complain(error, name) {
  if (TAKEN.includes(error.code))
    return h(
      "p.note.bad",
      { role: "alert" },
      `The name ${name} is taken. Nothing was changed. Choose another name, or `,
      h("a", { href: `${studyPath(name)}/candidates` }, `open ${name}`),
      " and add candidates there.",
    );
  if (TAKEN_UNSEEN[error.code])
    return h(
      "p.note.bad",
      { role: "alert" },
      `The name ${name} is taken ${TAKEN_UNSEEN[error.code]}. Choose another name.`,
    );
  if (!error.errors?.length) return h("p.note.bad", { role: "alert" }, explain(error));
  const named = error.errors.map((finding) => ({ ...finding, column: finding.column ?? finding.pointer?.slice(1) }));
  return findings(named, "bad", error.message);
}
