// States, dialogs and short messages: designed once, used by every view.

import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

export function empty(picture, title, text, ...actions) {
  return h("section.state", icon(picture, 56), h("h2", title), h("p", text), actions.length ? h(".row", actions) : null);
}

export function loading(...heights) {
  return h(".loading", { role: "status", "aria-label": "Loading" }, heights.map((height) => {
    const block = h(".skeleton");
    block.style.height = `${height}px`;
    return block;
  }));
}

export function failed(error, again) {
  const retry = again && h("button", { onclick: again }, "Try again");
  if (error.code === "offline") return empty("cloud", "The server cannot be reached", "Check the network of this device. What you typed at a bench is kept here and sent later.", retry);
  if (error.status === 404) return empty("lock", "Nothing to see here", "There is no such study, or your key was not granted it. Whoever owns the study can let you in.", h("a.button", { href: "/" }, "All studies"));
  if (error.status === 403) return empty("lock", "Your role may not do this", error.message, h("a.button", { href: "/" }, "All studies"));
  if (error.status === 410) return empty("file", "This study was deleted", "Its name and its ledger stay on the server; nothing else can be read here.", h("a.button", { href: "/" }, "All studies"));
  return empty("cloud", "That did not work", error.message || "Something unexpected happened.", retry);
}

// What the server found wrong, with the rows it names.
export function findings(list, tone, title) {
  if (!list.length) return null;
  const shown = list.slice(0, 12).map((one) => h("li", one.row ? h("b.number", `Row ${one.row}`, one.column ? `, ${one.column}: ` : ": ") : one.column ? h("b", `${one.column}: `) : null, one.message));
  const more = list.length > 12 ? h("li", `… and ${list.length - 12} more`) : null;
  return h(".note", { class: tone, role: tone === "bad" ? "alert" : "status" }, h("b", title), h("ul", shown, more));
}

export const explain = (error) => [error.message, ...(error.errors ?? []).slice(0, 3).map((one) => one.message)].join(" ");

export function toast(text, tone = "") {
  const message = h(".toast", { class: tone }, text);
  document.getElementById("toasts").append(message);
  setTimeout(() => message.remove(), tone === "bad" ? 8000 : 3500);
}

// A question with fields; `act(values)` may refuse by throwing, and the dialog stays open with the reason.
export function ask({ title, text, fields = [], confirm, danger = false, act }) {
  const opener = document.activeElement;
  const complaint = h("p.note.bad", { role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: danger ? "danger" : "primary" }, confirm);
  const inputs = fields.map((one) => field(one));
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
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", onclose: () => { dialog.remove(); opener?.focus?.(); } },
    h("form", { method: "dialog", onsubmit: submit }, heading, text && h("p.quiet", text), inputs, complaint,
      h(".row.end", h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), button)));
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector("input, textarea, select");
  first?.focus();
  first?.select?.();
  return dialog;
}

export function field({ name, label, hint, kind = "text", value = "", options, ...more }) {
  const control = options
    ? h("select", { name, ...more }, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)))
    : kind === "area" ? h("textarea", { name, rows: 3, ...more }, value) : h("input", { name, type: kind, value, autocomplete: "off", ...more });
  return h("label.field", label, control, hint && h("span.hint", hint));
}

export function choices(name, options, value, onChange) {
  return h(".choices", { role: "radiogroup", "aria-label": name }, options.map(([key, text]) =>
    h("label", h("input", { type: "radio", name, value: key, checked: key === value, onchange: () => onChange(key) }), text)));
}
