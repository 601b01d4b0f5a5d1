// What a view shows when there is nothing to show: empty, loading, failed, refused.

import type { ComponentChildren } from "preact";
import { at } from "../core/address.ts";
import { codeOf, explain, Problem, statusOf } from "../core/api.ts";
import { may } from "../core/session.ts";
import type { Finding } from "../core/types.ts";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyProps {
  icon: IconName;
  title: string;
  text: ComponentChildren;
  children?: ComponentChildren;
}

export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <section class="state">
      <Icon name={icon} size={56} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div class="row">{children}</div>}
    </section>
  );
}

const HEIGHTS = { page: ["low", "tall", "middle"], part: ["tall"] };

export function Loading({ part = false }) {
  return (
    <div class={part ? "stack" : "loading"} role="status" aria-label="Loading">
      {HEIGHTS[part ? "part" : "page"].map((height) => (
        <div class={`skeleton ${height}`} key={height} />
      ))}
    </div>
  );
}

export const AllStudies = () => (
  <a class="button" href={at("")}>
    All studies
  </a>
);

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const retry = again && (
    <button type="button" onClick={again}>
      Try again
    </button>
  );
  if (codeOf(error) === "offline")
    return (
      <Empty
        icon="cloud"
        title="The server cannot be reached"
        text="Check this device's network connection. Values typed at a bench are stored on this device and sent later."
      >
        {retry}
      </Empty>
    );
  const status = statusOf(error);
  if (codeOf(error) === "candidate-not-found")
    return <Empty icon="file" title="Candidate not found" text="No candidate of this study has that key." />;
  if (status === 404)
    return (
      <Empty
        icon="lock"
        title="Study not found"
        text="It does not exist, or your key has no access to it. The owner of the study can give you access."
      >
        <AllStudies />
      </Empty>
    );
  if (status === 403)
    return (
      <Empty icon="lock" title="Your key does not allow this" text={(error as Error).message}>
        <AllStudies />
      </Empty>
    );
  if (status === 410)
    return (
      <Empty
        icon="file"
        title="This study was deleted"
        text="It can be restored for some days. After that it is erased for good."
      >
        <AllStudies />
        {may("manage") && (
          <a class="button" href={`${at("")}?state=deleted`}>
            Deleted studies
          </a>
        )}
      </Empty>
    );
  return (
    <Empty icon="cloud" title="Something went wrong" text={(error as Error).message || "An unexpected error occurred."}>
      {retry}
    </Empty>
  );
}

export const refusal = (message: string): Problem => new Problem(403, { detail: message });

const MOST = 12;

// What the server found, with row and column.
export function Findings({ list, tone, title }: { list: Finding[]; tone: "bad" | "warn"; title: string }) {
  if (!list.length) return null;
  return (
    <div class={`note ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <b>{title}</b>
      <ul>
        {list.slice(0, MOST).map((finding, position) => (
          // Findings have no identity.
          <li key={position}>
            <Place finding={finding} />
            {finding.message}
          </li>
        ))}
        {list.length > MOST && <li>… and {list.length - MOST} more</li>}
      </ul>
    </div>
  );
}

function Place({ finding: { row, column } }: { finding: Finding }) {
  const place = [row && `Row ${row}`, column].filter(Boolean).join(", ");
  return place ? <b class="number">{place}: </b> : null;
}

export function Complaint({ error }: { error: unknown }) {
  if (!error) return null;
  if (error instanceof Problem && error.errors.length)
    return <Findings list={error.errors} tone="bad" title={error.message} />;
  return (
    <p class="note bad" role="alert">
      {explain(error)}
    </p>
  );
}
