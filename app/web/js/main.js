// The start: who is signed in, which view to show, and what happens when the session ends.

import { Offline, whenSignedOut } from "./api.js";
import { showBar, showStatus } from "./bar.js";
import { fill } from "./dom.js";
import { resume } from "./outbox.js";
import { allStudies, empty, failed, loading } from "./parts.js";
import { match, start } from "./router.js";
import { forgetKey, me, recall, wasSignedIn } from "./session.js";
import { bench } from "./views/bench.js";
import { create } from "./views/create.js";
import { signInView } from "./views/signin.js";
import { studies } from "./views/studies.js";
import { study } from "./views/study.js";

const VIEWS = { studies, create, study, bench };
const content = document.getElementById("content");
let current = null; // { view, key, leave, turn }
let visit = 0;

async function arrive() {
  if (!me()) return enter();
  const { view, params } = match(location.pathname);
  const key = `${view} ${params.study ?? ""} ${view === "bench" ? (params.worker ?? "") : ""}`;
  if (current?.key === key && current.turn) return current.turn(params); // another part of the same view
  const mine = ++visit;
  current?.leave?.();
  current = null;
  showStatus(null);
  showBar(trail(view, params), signedOut);
  document.title = title(view, params);
  fill(content, loading(48, 220, 160));
  if (view === "missing")
    return fill(
      content,
      empty("file", "Page not found", "Check the address, or go back to all studies.", allStudies()),
    );
  try {
    const made = await VIEWS[view](content, params, () => mine === visit);
    if (mine === visit) current = { key, ...made };
    else made?.leave?.();
  } catch (error) {
    if (mine === visit && error.status !== 401) fill(content, failed(error, arrive));
  }
}

function trail(view, { study: name, worker }) {
  if (view === "create") return [["New study", "/create"]];
  if (!name) return [];
  const here = [[name, `/studies/${encodeURIComponent(name)}`]];
  return view === "bench" ? [...here, [worker ? `Bench ${worker}` : "Bench", location.pathname]] : here;
}

const title = (view, { study: name, worker }) =>
  [worker, name, view === "create" && "New study", "Nextbatch"].filter(Boolean).join(" · ");

async function enter() {
  visit += 1;
  current?.leave?.();
  current = null;
  if (wasSignedIn()) {
    try {
      await recall();
      resume();
      return arrive();
    } catch (error) {
      if (error instanceof Offline) return fill(content, failed(error, enter));
    }
  }
  showBar([], signedOut);
  fill(
    content,
    signInView(() => {
      resume();
      arrive();
    }),
  );
}

function signedOut() {
  if (!me() && content.querySelector(".signin")) return;
  forgetKey();
  enter();
}

whenSignedOut(signedOut);
start(arrive);
arrive();
