// Drop a file here, or choose one.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { XLSX } from "./xlsx.js";

// It shrinks once there is a file; another file can still be dropped on it.
export function dropzone({ title, hint, onFile }) {
  const input = h("input.visually-hidden", {
    type: "file",
    accept: `.csv,.xlsx,text/csv,text/plain,${XLSX}`,
    "aria-label": title,
    onchange: () => {
      if (input.files[0]) onFile(input.files[0]);
      input.value = "";
    },
  });
  const zone = h("label.drop", icon("file", 36), h("b", title), h("span.quiet.small", hint), input);
  for (const name of ["dragenter", "dragover"])
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0]);
  });
  return zone;
}
