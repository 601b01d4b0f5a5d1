// Follow a study: Server-Sent Events by fetch, and polling while there are none. Says which of the two it is.

import { study } from "./api.js";

const QUIET = 40_000; // the server sends something every 15 s; a line that is quiet for this long is dead
const POLL = 4_000;
const RETRY = 12_000;

// status is "live", "polling" or "offline"; `onChange(event)` comes with an event, or with null when it may have changed.
export function follow(name, { seq, onChange, onStatus, look }) {
  let last = seq,
    stopped = false,
    controller = null,
    timer = 0,
    pause = POLL,
    status = "";
  const say = (word) => {
    if (word === status) return;
    status = word;
    onStatus(word);
  };

  async function run() {
    while (!stopped) {
      if (document.hidden) await visible(); // a browser gives a host only six connections
      if (stopped) return;
      await listen().catch(() => {}); // the line broke: poll until it is back
      if (!stopped && !document.hidden) await poll();
    }
  }

  async function listen() {
    controller = new AbortController();
    const onOpen = () => {
      pause = POLL;
      say("live");
    };
    const onBehind = (newest) => {
      last = newest; // the ledger was restored from an older copy: see it as it is now
      onChange(null);
    };
    for await (const event of events(`${study(name, "/events/live")}?after=${last}`, controller, onOpen, onBehind)) {
      if (event.id) last = Math.max(last, Number(event.id));
      onChange(JSON.parse(event.data));
    }
  }

  async function poll() {
    try {
      await look();
      say("polling");
    } catch (error) {
      say(error.code === "offline" ? "offline" : "polling");
    }
    await new Promise((resolve) => {
      timer = setTimeout(resolve, pause);
      wake = resolve;
    });
    pause = Math.min(RETRY, pause * 1.5);
  }

  let wake = () => {};
  const onVisibility = () => (document.hidden ? controller?.abort() : wake());
  const onOnline = () => {
    pause = POLL;
    wake();
  };
  const onLost = () => {
    controller?.abort();
    say("offline");
  };
  const visible = () =>
    new Promise((resolve) => {
      wake = resolve;
    });
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("online", onOnline);
  addEventListener("offline", onLost);
  run();
  return () => {
    stopped = true;
    clearTimeout(timer);
    wake();
    controller?.abort();
    document.removeEventListener("visibilitychange", onVisibility);
    removeEventListener("online", onOnline);
    removeEventListener("offline", onLost);
  };
}

async function* events(path, controller, onOpen, onBehind) {
  const answer = await fetch(path, { signal: controller.signal, headers: { Accept: "text/event-stream" } });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    if (problem.code === "ledger-behind") onBehind(problem.newest);
    throw new Error(`no stream: ${answer.status}`);
  }
  onOpen();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "",
    watch = 0;
  try {
    for (;;) {
      watch = setTimeout(() => controller.abort(), QUIET);
      const { value, done } = await reader.read();
      clearTimeout(watch);
      if (done) return;
      text += value.replaceAll("\r\n", "\n");
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const event = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (event.data) yield event;
      }
    }
  } finally {
    clearTimeout(watch);
    controller.abort();
  }
}

function parse(block) {
  const event = { data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = line.slice(0, colon),
      value = line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") event.data += (event.data && "\n") + value;
    else if (colon > 0) event[field] = value;
  }
  return event;
}
