// The ledger as a timeline: what happened, who did it and why, newest first.

import { get, study as path } from "../api.js";
import { fill, h } from "../dom.js";
import { fullTime, shortTime } from "../format.js";
import { failed, loading } from "../parts.js";
import { actorWords, learnNames, typeWords } from "./words.js";

const PAGE = 60;

export function events(root, facts) {
  const list = h("ol.timeline");
  const more = h("button", { onclick: older }, "Earlier");
  const known = new Set();
  let earliest = facts.summary.seq + 1;

  async function older() {
    const after = Math.max(0, earliest - 1 - PAGE);
    const page = await get(`${path(facts.name, "/events")}?after=${after}&limit=${PAGE}`);
    const fresh = page.events.filter((event) => event.seq < earliest);
    list.append(...fresh.reverse().map(line));
    earliest = after + 1;
    more.hidden = earliest <= 1;
  }

  function line(event) {
    known.add(event.seq);
    return h(
      "li",
      { class: event.type },
      h(
        "time.quiet.small.number",
        { datetime: event.recorded_at, title: fullTime(event.recorded_at) },
        shortTime(event.recorded_at),
      ),
      h(
        "div",
        h("p", h("b", event.words ?? typeWords(event.type)), h("span.quiet.small", ` by ${actorWords(event.actor)}`)),
        event.reason && h("p.small.reason", `“${event.reason}”`),
      ),
      h("span.quiet.small.mono.seq", { title: `Hash ${event.hash}` }, `#${event.seq} ${event.hash.slice(0, 7)}`),
    );
  }

  fill(root, loading(300));
  learnNames()
    .then(older)
    .then(
      () => fill(root, h("section.card", list, h(".row", more))),
      (error) => fill(root, failed(error)),
    );
  return {
    event: (event) => {
      if (!known.has(event.seq)) list.prepend(line(event));
    },
  };
}
