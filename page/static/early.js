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

  // The document names the answers that the view will ask for first, so that they are on their way before any script is
  // (app/api/routes/page.py). They are held here until core/api.ts takes them.
  const asked = new Map();
  const ask = (path) => {
    const answer = fetch(path).catch(() => null);
    asked.set(path, answer);
    return answer;
  };
  for (const { href } of document.querySelectorAll('link[as="fetch"]')) {
    const { pathname, search } = new URL(href);
    ask(pathname + search);
  }

  // The batch that this device saw on the bench last: views/bench/facts.ts stores a copy.
  const lastBatch = (name, worker) => {
    const stored = localStorage.getItem(`nextbatch:bench:${decodeURIComponent(name)}:${decodeURIComponent(worker)}`);
    return stored && JSON.parse(stored).batch?.number;
  };

  // The open batch of a bench, or else its newest one. Mostly it is the batch of last time, which is asked for together
  // with the list and so spares one round trip.
  const askForBatch = async ([list, study, name, worker]) => {
    const likely = lastBatch(name, worker);
    if (likely) ask(`${study}/batches/${likely}`);
    const answer = await asked.get(list);
    if (!answer?.ok) return;
    const { batches } = await answer.clone().json();
    const batch = batches.find(({ state }) => state === "open") ?? batches.at(-1);
    if (batch && batch.number !== likely) ask(`${study}/batches/${batch.number}`);
  };
  const lists = [...asked.keys()].map((path) => /^(.*\/studies\/([^/]+))\/batches\?worker=([^&]+)&.*$/.exec(path));
  const list = lists.find(Boolean);
  if (list) askForBatch(list);

  const script = document.currentScript;
  globalThis.nextbatchPreload = (part) => {
    for (const file of script.dataset[part].split(" ")) {
      const link = document.createElement("link");
      link.rel = "modulepreload";
      link.href = new URL(file, home).href;
      document.head.append(link);
    }
  };
  globalThis.nextbatchEarly = asked;
}
