// Follow a study: Server-Sent Events by fetch, and polling while there are none. Says which of the two it is.

import { codeOf, studyApi } from "./api.ts";
import type { LedgerEvent } from "./types.ts";

const QUIET = 40_000; // the server sends something every 15 s; a line that is quiet for this long is dead
const POLL = 4_000;
const RETRY = 12_000;

export type Status = "live" | "polling" | "offline";

interface Following {
  seq: number;
  onChange: (event: LedgerEvent) => void;
  onStatus: (status: Status) => void;
  look: () => Promise<void>;
}

export function follow(name: string, { seq, onChange, onStatus, look }: Following): () => void {
  let last = seq;
  let stopped = false;
  let controller: AbortController | null = null;
  let timer = 0;
  let pause = POLL;
  let status = "";
  let wake = () => {};
  const say = (word: Status) => {
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
    const onBehind = (newest: number) => {
      last = newest; // the ledger was restored from an older copy: see it as it is now
      void look();
    };
    for await (const event of events(`${studyApi(name, "/events/live")}?after=${last}`, controller, onOpen, onBehind)) {
      if (event.id) last = Math.max(last, Number(event.id));
      onChange(JSON.parse(event.data));
    }
  }

  async function poll() {
    try {
      await look();
      say("polling");
    } catch (error) {
      say(codeOf(error) === "offline" ? "offline" : "polling");
    }
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, pause);
      wake = resolve;
    });
    pause = Math.min(RETRY, pause * 1.5);
  }

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
    new Promise<void>((resolve) => {
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

interface Message {
  data: string;
  id?: string;
}

async function* events(
  path: string,
  controller: AbortController,
  onOpen: () => void,
  onBehind: (newest: number) => void,
): AsyncGenerator<Message> {
  const answer = await fetch(path, { signal: controller.signal, headers: { Accept: "text/event-stream" } });
  if (!answer.ok || !answer.body) {
    const problem = await answer.json().catch(() => ({}));
    if (problem.code === "ledger-behind") onBehind(problem.newest);
    throw new Error(`no stream: ${answer.status}`);
  }
  onOpen();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let watch = 0;
  try {
    for (;;) {
      watch = setTimeout(() => controller.abort(), QUIET);
      const { value, done } = await reader.read();
      clearTimeout(watch);
      if (done) return;
      text += value.replaceAll("\r\n", "\n");
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const message = parse(text.slice(0, end));
        text = text.slice(end + 2);
        if (message.data) yield message;
      }
    }
  } finally {
    clearTimeout(watch);
    controller.abort();
  }
}

function parse(block: string): Message {
  const message: Message = { data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (line.startsWith("data:")) message.data += (message.data && "\n") + value;
    else if (line.startsWith("id:")) message.id = value;
  }
  return message;
}
