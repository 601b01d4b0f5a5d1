// Empty states, dialogs and short messages: designed once, used by every view.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

export function empty(picture, title, text, ...actions) {
  return h(
    "section.state",
    icon(picture, 56),
    h("h2", title),
    h("p", text),
    actions.length ? h(".row", actions) : null,
  );
}

export function loading(...heights) {
  return h(
    ".loading",
    { role: "status", "aria-label": "Loading" },
    heights.map((height) => {
      const block = h(".skeleton");
      block.style.height = `${height}px`;
      return block;
    }),
  );
}

export const allStudies = () => h("a.button", { href: "/" }, "All studies");

export function failed(error, again) {
  const retry = again && h("button", { onclick: again }, "Try again");
  if (error.code === "offline")
    return empty(
      "cloud",
      "The server cannot be reached",
      "Check this device's network connection. Values typed at a bench are stored on this device and sent later.",
      retry,
    );
  if (error.status === 404)
    return empty(
      "lock",
      "Study not found",
      "It does not exist, or your key has no access to it. The owner of the study can give you access.",
      allStudies(),
    );
  if (error.status === 403) return empty("lock", "Your key does not allow this", error.message, allStudies());
  if (error.status === 410)
    return empty(
      "file",
      "This study was deleted",
      "The server keeps its name and its history; there is nothing else to show.",
      allStudies(),
    );
  return empty("cloud", "Something went wrong", error.message || "An unexpected error occurred.", retry);
}

// What the server found, with row and column.
export function findings(list, tone, title) {
  if (!list.length) return null;
  const shown = list.slice(0, 12).map((finding) => h("li", placeOf(finding), finding.message));
  const more = list.length > 12 ? h("li", `… and ${list.length - 12} more`) : null;
  return h(".note", { class: tone, role: tone === "bad" ? "alert" : "status" }, h("b", title), h("ul", shown, more));
}

function placeOf({ row, column }) {
  const place = [row && `Row ${row}`, column].filter(Boolean).join(", ");
  return place && h("b.number", `${place}: `);
}

// A table to download as CSV or as .xlsx; `words` say what it is.
export function downloads(address, name, words, size = "") {
  const link = (format, program) =>
    h(
      "a.button",
      { class: size, href: `${address}?format=${format}`, download: `${name}.${format}` },
      size ? null : icon("down"),
      `${words} (${program})`,
    );
  return [link("csv", "CSV"), link("xlsx", "Excel")];
}

export const explain = (error) =>
  [error.message, ...(error.errors ?? []).slice(0, 3).map((finding) => finding.message)].join(" ");

export function toast(text, tone = "") {
  const message = h(".toast", { class: tone }, text);
  document.getElementById("toasts").append(message);
  setTimeout(() => message.remove(), tone === "bad" ? 8000 : 3500);
}

// A dialog with fields. If `act(values)` throws, the dialog stays open and shows why.
export function ask({ title, text, fields = [], confirm, danger = false, act }) {
  const opener = document.activeElement;
  const complaint = h("p.note.bad", { role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: danger ? "danger" : "primary" }, confirm);
  const inputs = fields.map((options) => field(options));
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await act(Object.fromEntries(new FormData(event.target)));
      dialog.close();
    } catch (error) {
      complaint.hidden = false;
      fill(complaint, explain(error));
    }
    button.disabled = false;
  };
  const heading = h("h2", { id: "dialog-title" }, title);
  const dialog = h(
    "dialog",
    {
      "aria-labelledby": "dialog-title",
      onclose: () => {
        dialog.remove();
        opener?.focus?.();
      },
    },
    h(
      "form",
      { method: "dialog", onsubmit: submit },
      heading,
      text && h("p.quiet", text),
      inputs,
      complaint,
      h(".row.end", h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), button),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector("input, textarea, select");
  first?.focus();
  first?.select?.();
  return dialog;
}

export function field({ label, hint, ...control }) {
  return h("label.field", label, controlOf(control), hint && h("span.hint", hint));
}

function controlOf({ name, kind = "text", value = "", options, ...more }) {
  if (options) {
    const choose = ([key, text]) => h("option", { value: key, selected: key === value }, text);
    return h("select", { name, ...more }, options.map(choose));
  }
  if (kind === "area") return h("textarea", { name, rows: 3, ...more }, value);
  return h("input", { name, type: kind, value, autocomplete: "off", ...more });
}

export function choices(name, options, value, onChange) {
  return h(
    ".choices",
    { role: "radiogroup", "aria-label": name },
    options.map(([key, text]) =>
      h(
        "label",
        h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onChange(key) }),
        text,
      ),
    ),
  );
}
