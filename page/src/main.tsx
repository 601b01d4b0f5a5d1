// The start: who is signed in, which view to show, and what happens when the session ends.

import "./base.ts";
import { type ComponentType, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { followLinks, type Place, useAddress } from "./core/address.ts";
import { isOffline, whenSignedOut } from "./core/api.ts";
import { resume } from "./core/outbox.ts";
import { begin, forgetKey, recall } from "./core/session.ts";
import { Bar, showStatus } from "./parts/bar.tsx";
import { DialogHost, Toasts } from "./parts/dialog.tsx";
import { AllStudies, Empty, Failed, Loading } from "./parts/states.tsx";
import Bench from "./views/bench/bench.tsx";
import { SignIn } from "./views/signin.tsx";
import Studies from "./views/studies.tsx";

type View = ComponentType<{ place: Place }>;

// The bench and the list of studies come with the page; the rest is read when it is first opened.
const loaded = new Map<string, View>([
  ["bench", Bench],
  ["studies", Studies],
]);

async function load(view: Place["view"]): Promise<void> {
  if (loaded.has(view)) return;
  if (view === "study") loaded.set("study", (await import("./views/study/study.tsx")).default);
  else if (view === "help") loaded.set("help", (await import("./views/help.tsx")).default);
  else for (const [name, found] of Object.entries((await import("./views/more.tsx")).VIEWS)) loaded.set(name, found);
}

type Phase = "entering" | "out" | "in" | { error: unknown };
const known = begin();
const START = { unknown: "out", remembered: "entering", known: "in" } as const;

function Page() {
  const { place } = useAddress();
  const [phase, setPhase] = useState<Phase>(START[known]);
  const enter = async () => {
    if (known === "unknown") return;
    try {
      await recall();
      resume();
      setPhase("in");
    } catch (error) {
      if (!isOffline(error)) setPhase("out");
      else if (known === "remembered") setPhase({ error });
    }
  };
  useEffect(() => {
    whenSignedOut(() => {
      forgetKey();
      setPhase("out");
    });
    enter();
    // Once.
  }, []);
  const signedIn = () => {
    resume();
    setPhase("in");
  };
  return (
    <>
      <Bar place={phase === "in" ? place : null} onSignedOut={() => setPhase("out")} />
      <main id="content" tabIndex={-1}>
        {phase === "entering" && <Loading />}
        {phase === "out" && <SignIn onDone={signedIn} />}
        {phase === "in" && <Shown place={place} />}
        {typeof phase === "object" && <Failed error={phase.error} again={enter} />}
      </main>
      <DialogHost />
      <Toasts />
    </>
  );
}

function Shown({ place }: { place: Place }) {
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const { view } = place;
  useEffect(() => {
    setError(null);
    if (view !== "study" && view !== "bench") showStatus(null);
    if (loaded.has(view) || view === "missing") return;
    load(view).then(
      () => redraw((count) => count + 1),
      () => setError(new Error("A part of the page could not be loaded. Reload the page.")),
    );
  }, [view]);
  if (view === "missing")
    return (
      <Empty icon="file" title="Page not found" text="Check the address, or go back to all studies.">
        <AllStudies />
      </Empty>
    );
  if (error) return <Failed error={error} again={() => location.reload()} />;
  const Current = loaded.get(view);
  return Current ? <Current place={place} key={identity(place)} /> : <Loading />;
}

// Another study or another bench starts afresh; another part of the same study does not.
function identity(place: Place): string {
  if (place.view === "study") return `study ${place.study}`;
  if (place.view === "bench") return `bench ${place.study} ${place.worker ?? ""}`;
  return place.view;
}

followLinks();
render(<Page />, document.getElementById("page") as HTMLElement);
