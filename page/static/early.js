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
}
