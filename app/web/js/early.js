// Before the first paint, so that the page never flashes in the wrong colours.
{
  const chosen = localStorage.getItem("nextbatch:theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  if (new URLSearchParams(location.search).has("wall")) document.documentElement.dataset.wall = "";
}
