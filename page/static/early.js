// Before the first paint, so that the page never flashes in the wrong colours.
{
  // As it is now: relative addresses, this script's own too, change their meaning with the view.
  const home = document.currentScript.src;
  const chosen = localStorage.getItem("nextbatch:theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  if (new URLSearchParams(location.search).has("wall")) document.documentElement.dataset.wall = "";
  const icon = document.createElement("link");
  icon.rel = "icon";
  icon.href = new URL("icon.svg", home).href;
  document.head.append(icon);

  // What the view will ask for first is asked for now, while the scripts are still on their way. core/api.ts takes it.
  const script = document.currentScript;
  const root = new URL("..", home).pathname;
  const place = location.pathname.slice(root.length);
  const [, name, rest = ""] = /^studies\/([^/]+)(?:\/(.*))?$/.exec(place) ?? [];
  const study = `${root}v1/studies/${name}`;
  const asked = new Map();
  const ask = (path) => {
    const answer = fetch(path).catch(() => null);
    asked.set(path, answer);
    return answer;
  };

  // The batch that this device saw on the bench last: views/bench/facts.ts stores a copy.
  const lastBatch = (worker) => {
    const stored = localStorage.getItem(`nextbatch:bench:${decodeURIComponent(name)}:${decodeURIComponent(worker)}`);
    return stored && JSON.parse(stored).batch?.number;
  };

  // The open batch of a bench, or else its newest one, and the results. Mostly it is the batch of last time, which is
  // asked for together with the list and so spares one round trip.
  const askForBatch = async (worker) => {
    const likely = lastBatch(worker);
    if (likely) ask(`${study}/batches/${likely}`);
    ask(`${study}/observations?after=0&limit=10000`);
    const answer = await ask(`${study}/batches?worker=${worker}&after=0&limit=1000`);
    if (!answer?.ok) return;
    const { batches } = await answer.clone().json();
    const batch = batches.find(({ state }) => state === "open") ?? batches.at(-1);
    if (batch && batch.number !== likely) ask(`${study}/batches/${batch.number}`);
  };
  const preload = (part) => {
    for (const file of script.dataset[part].split(" ")) {
      const link = document.createElement("link");
      link.rel = "modulepreload";
      link.href = new URL(file, home).href;
      document.head.append(link);
    }
  };
  if (name && !rest.startsWith("bench")) preload("study");
  if (name && rest && !rest.startsWith("bench")) preload("parts");
  globalThis.nextbatchPreload = preload;
  if (localStorage.getItem("nextbatch:signed-in")) {
    if (name) for (const path of [study, `${study}/summary`]) ask(path);
    if (name && !rest.startsWith("bench")) ask(`${study}/trace`);
    const [, worker] = /^bench\/([^/]+)$/.exec(rest) ?? [];
    if (worker && !location.search) askForBatch(worker);
    if (!place) ask(`${root}v1/studies?after=0&limit=1000`);
  }
  globalThis.nextbatchEarly = asked;
}
