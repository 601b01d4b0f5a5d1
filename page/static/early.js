// Before the first paint, so that the page never flashes in the wrong colours.
{
  const chosen = localStorage.getItem("nextbatch:theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  if (new URLSearchParams(location.search).has("wall")) document.documentElement.dataset.wall = "";
  // A relative address would change its meaning with the view.
  const icon = document.createElement("link");
  icon.rel = "icon";
  icon.href = new URL("icon.svg", document.currentScript.src).href;
  document.head.append(icon);

  // What the view will ask for first is asked for now, while the scripts are still on their way. core/api.ts takes it.
  const script = document.currentScript;
  const root = new URL("..", script.src).pathname;
  const place = location.pathname.slice(root.length);
  const [, name, rest = ""] = /^studies\/([^/]+)(?:\/(.*))?$/.exec(place) ?? [];
  const study = `${root}v1/studies/${name}`;
  const asked = new Map();
  const ask = (path) => {
    const answer = fetch(path).catch(() => null);
    asked.set(path, answer);
    return answer;
  };

  // The open batch of a bench, or else its newest one, and the results.
  const askForBatch = async (worker) => {
    ask(`${study}/observations?after=0&limit=10000`);
    const answer = await ask(`${study}/batches?worker=${worker}&after=0&limit=1000`);
    if (!answer?.ok) return;
    const { batches } = await answer.clone().json();
    const batch = batches.find(({ state }) => state === "open") ?? batches.at(-1);
    if (batch) ask(`${study}/batches/${batch.number}`);
  };
  const preload = (file) => {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = new URL(file, script.src).href;
    document.head.append(link);
  };
  if (name && !rest.startsWith("bench")) for (const file of script.dataset.study.split(" ")) preload(file);
  if (localStorage.getItem("nextbatch:signed-in")) {
    if (name) for (const path of [study, `${study}/summary`]) ask(path);
    if (name && !rest.startsWith("bench")) ask(`${study}/trace`);
    const [, worker] = /^bench\/([^/]+)$/.exec(rest) ?? [];
    if (worker && !location.search) askForBatch(worker);
    if (!place) ask(`${root}v1/studies?after=0&limit=1000`);
  }
  globalThis.nextbatchEarly = asked;
}
