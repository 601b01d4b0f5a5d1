// A barcode scanner is a keyboard that types a key and Enter. What it types comes here unless another field has the focus.

import { h } from "../dom.js";
import { icon } from "../icons.js";
import { toast } from "../parts.js";

export function scanner(find) {
  const input = h("input", {
    type: "text",
    placeholder: "Scan or type a key",
    "aria-label": "Scan or type a key",
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      const key = input.value.trim();
      input.value = "";
      if (key && !find(key)) toast(`${key} is not in this batch.`, "bad");
    },
  });
  const onKey = (event) => {
    const busy =
      document.activeElement?.matches("input, textarea, select, [contenteditable]") ||
      document.querySelector("dialog[open]");
    if (!busy && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && event.key !== " ")
      input.focus(); // the key itself lands in the field
  };
  return {
    element: h("label.scan.no-print", icon("scan", 20), input),
    start() {
      document.addEventListener("keydown", onKey);
      return () => document.removeEventListener("keydown", onKey);
    },
  };
}
