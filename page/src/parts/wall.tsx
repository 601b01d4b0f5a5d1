// The wall: a view large enough to be read across a room, with nothing to click.

import { useEffect } from "preact/hooks";
import { Icon } from "./icon.tsx";

export const WallButton = () => (
  <button type="button" class="plain icon wall-button" aria-label="Wall screen" title="Wall screen" onClick={turnWall}>
    <Icon name="wall" />
  </button>
);

async function turnWall() {
  const root = document.documentElement;
  if ("wall" in root.dataset) {
    delete root.dataset.wall;
    if (document.fullscreenElement) await document.exitFullscreen();
  } else {
    root.dataset.wall = "";
    await root.requestFullscreen?.().catch(() => {});
  }
  dispatchEvent(new Event("themechange"));
}

// Escape and the end of full screen leave the wall, and so does leaving the study.
export function useWall() {
  useEffect(() => {
    const leave = () => {
      delete document.documentElement.dataset.wall;
    };
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && leave();
    const onScreen = () => document.fullscreenElement || leave();
    addEventListener("keydown", onKey);
    addEventListener("fullscreenchange", onScreen);
    return () => {
      leave();
      removeEventListener("keydown", onKey);
      removeEventListener("fullscreenchange", onScreen);
    };
  }, []);
}
