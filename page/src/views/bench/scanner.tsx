// A barcode scanner is a keyboard that types a key and Enter. What it types comes here unless another field has the focus.

import { useEffect, useRef } from "preact/hooks";
import { toast } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";

export function Scanner({ find }: { find: (key: string) => boolean }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const busy =
        document.activeElement?.matches("input, textarea, select, [contenteditable]") ||
        document.querySelector("dialog[open]");
      const letter = event.key.length === 1 && event.key !== " ";
      if (!busy && letter && !event.ctrlKey && !event.metaKey && !event.altKey) input.current?.focus(); // the key itself lands in the field
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const element = input.current;
    if (event.key !== "Enter" || !element) return;
    event.preventDefault();
    const key = element.value.trim();
    element.value = "";
    if (key && !find(key)) toast(`${key} is not in this batch.`, "bad");
  };
  return (
    <label class="scan no-print">
      <Icon name="scan" size={20} />
      <input
        ref={input}
        type="text"
        placeholder="Scan or type a key"
        aria-label="Scan or type a key"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="go"
        onKeyDown={onKeyDown}
      />
    </label>
  );
}
