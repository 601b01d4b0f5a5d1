// The parts of a study that are read after its overview: one chunk for all of them.

import "./details.ts";
import type { ComponentType } from "preact";
import Audit from "./audit.tsx";
import Batches from "./batches.tsx";
import Candidates from "./candidates.tsx";
import Forecast from "./forecast.tsx";
import Insights from "./insights.tsx";
import CandidateMap from "./map.tsx";
import Results from "./results.tsx";
import Settings from "./settings.tsx";
import Timeline from "./timeline.tsx";

export { CandidateDrawer, CandidatePage } from "./candidate.tsx";

export type LaterPart =
  | "results"
  | "candidates"
  | "insights"
  | "map"
  | "batches"
  | "events"
  | "forecast"
  | "settings"
  | "audit";

export const PARTS: Record<LaterPart, ComponentType> = {
  results: Results,
  candidates: Candidates,
  insights: Insights,
  map: CandidateMap,
  batches: Batches,
  events: Timeline,
  forecast: Forecast,
  settings: Settings,
  audit: Audit,
};
