// A guide of the project, readable inside the page. Its text comes with the page, so it needs no internet.

import { GUIDES } from "guides";
import { useEffect } from "preact/hooks";
import { at } from "../core/address.ts";
import { useTitle } from "../core/hooks.ts";
import { AllStudies, Empty } from "../parts/states.tsx";

export const guideList = (): { id: string; title: string }[] => GUIDES;

export function Guide({ id }: { id: string }) {
  const guide = GUIDES.find((other) => other.id === id);
  useTitle(guide?.title ?? "Help");
  useEffect(() => {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [id]);
  if (!guide)
    return (
      <Empty icon="file" title="No such guide" text="Help lists all of them.">
        <AllStudies />
      </Empty>
    );
  return (
    <div class="page guide-page">
      <nav class="guide-list" aria-label="Guides">
        <a href={at("help")}>Help</a>
        {GUIDES.map((other) => (
          <a href={at(`help/${other.id}`)} aria-current={other.id === id ? "page" : undefined} key={other.id}>
            {other.title}
          </a>
        ))}
      </nav>
      {/* Our own documents, rendered when the page was built. */}
      <article class="card guide" dangerouslySetInnerHTML={{ __html: guide.html }} />
    </div>
  );
}
