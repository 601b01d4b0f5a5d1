// Sign in with a key. It goes into a cookie that scripts cannot read.

import { fill, h } from "../dom.js";
import { signIn } from "../session.js";

export function signInView(onDone) {
  const complaint = h("p.note.bad", { role: "alert", hidden: true });
  const key = h("input", {
    name: "key",
    type: "password",
    placeholder: "nb_…",
    autocomplete: "current-password",
    spellcheck: "false",
    required: true,
  });
  const button = h("button.primary", { type: "submit" }, "Sign in");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    complaint.hidden = true;
    try {
      await signIn(key.value, event.target.elements.remember.checked);
      onDone();
    } catch (error) {
      complaint.hidden = false;
      fill(
        complaint,
        error.status === 401
          ? "The server does not accept this key: it is unknown, revoked or expired."
          : error.message,
      );
      key.select();
    }
    button.disabled = false;
  };
  return h(
    "section.signin",
    h("img", { src: "/web/icon.svg", alt: "", width: 56, height: 56 }),
    h("h1", "Nextbatch"),
    h("p.quiet", "The next batch of experiments."),
    h(
      "form.card",
      { onsubmit: submit },
      h(
        "label.field",
        "Your key",
        key,
        h("span.hint", "The administrator of this server or the owner of a study can give you one."),
      ),
      h("label.check", h("input", { type: "checkbox", name: "remember" }), "Stay signed in on this device for a month"),
      complaint,
      button,
    ),
  );
}
