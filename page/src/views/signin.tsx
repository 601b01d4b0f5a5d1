// Sign in with a key. It goes into a cookie that scripts cannot read.

import { useEffect, useState } from "preact/hooks";
import { at } from "../core/address.ts";
import { statusOf } from "../core/api.ts";
import { useTitle } from "../core/hooks.ts";
import { isBack, signIn, singleSignOn, takeScannedKey } from "../core/session.ts";

export function SignIn({ onDone }: { onDone: () => void }) {
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  const [scanned] = useState(takeScannedKey);
  const [elsewhere, setElsewhere] = useState<string | null>(null);
  useTitle();
  useEffect(() => {
    const look = async () => {
      const name = await singleSignOn();
      if (name !== null && (await isBack())) onDone();
      else setElsewhere(name);
    };
    look().catch(() => undefined); // the form below works without it
  }, [onDone]);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const values = new FormData(form);
    setBusy(true);
    setComplaint("");
    try {
      await signIn(String(values.get("key")), values.has("remember"));
      onDone();
    } catch (error) {
      setComplaint(
        statusOf(error) === 401
          ? "The server does not accept this key: it is unknown, revoked or expired."
          : (error as Error).message,
      );
      setBusy(false);
      form.querySelector<HTMLInputElement>("[name=key]")?.select();
    }
  };
  return (
    <section class="signin">
      <img src={at("web/icon.svg")} alt="" width={56} height={56} />
      <h1>Nextbatch</h1>
      <p class="quiet">The next batch of experiments.</p>
      <form class="card" onSubmit={submit}>
        <label class="field">
          Your key
          <input
            name="key"
            type="password"
            placeholder="nb_…"
            autocomplete="current-password"
            spellcheck={false}
            defaultValue={scanned}
            required
          />
          <span class="hint">
            {scanned
              ? "Filled in from the code that you scanned."
              : "The administrator of this server or the owner of a study can give you one."}
          </span>
        </label>
        <label class="check">
          <input type="checkbox" name="remember" />
          Stay signed in on this device for a month
        </label>
        {complaint && (
          <p class="note bad" role="alert">
            {complaint}
          </p>
        )}
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
        {elsewhere !== null && <a class="button" href={at("session/sso")}>{`Sign in with ${elsewhere}`}</a>}
      </form>
    </section>
  );
}
