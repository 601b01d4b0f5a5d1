// The views that are opened less often: one chunk for all of them.

import "./study/details.ts";
import type { ComponentType } from "preact";
import type { Place } from "../core/address.ts";
import Compare from "./compare.tsx";
import Create from "./create/create.tsx";
import People from "./people.tsx";

export const VIEWS: Record<string, ComponentType<{ place: Place }>> = {
  compare: Compare,
  create: Create,
  people: People,
};
