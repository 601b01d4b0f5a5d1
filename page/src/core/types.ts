// The shapes of the API, as its OpenAPI document has them. `make check-page` generates them anew.

import type { components } from "../../generated/api.ts";

type Schemas = components["schemas"];

export type Settings = Schemas["StudySettings"];
export type Study = Omit<Schemas["StudyOut"], "configuration"> & { configuration: Settings };
export type StudyPage = Omit<Schemas["StudyPage"], "studies"> & { studies: Study[] };
export type Certificate = Schemas["CertificateOut"];
export type Summary = Schemas["SummaryOut"];
export type Quantity = Schemas["QuantityOut"];
export type Front = Schemas["FrontOut"];
export type FrontPoint = Schemas["FrontPointOut"];
export type Diagnostics = Schemas["DiagnosticsOut"];
export type ColumnEffect = Schemas["ColumnEffectOut"];
export type Why = Schemas["WhyOut"];
export type Trace = Schemas["TraceOut"];
export type Point = Schemas["PointOut"];
export type BatchBrief = Schemas["BatchBrief"];
export type Suggestion = Schemas["SuggestionOut"];
export type Batch = Omit<Schemas["BatchOut"], "suggestions"> & { suggestions: Suggestion[] };
export type AskBody = Partial<Schemas["AskIn"]>;
export type Preview = Omit<Schemas["PreviewOut"], "suggestions"> & { suggestions: Suggestion[] };
export type BatchPage = Schemas["BatchPage"];
export type Bench = { suggestions: Suggestion[] };
export type Observation = Schemas["ObservationOut"];
export type ObservationPage = { observations: Observation[]; next: number | null };
export type Candidate = Schemas["CandidateOut"];
export type Prediction = Schemas["PredictionOut"];
export type CandidatePage = Schemas["CandidatePageOut"];
export type Column = Schemas["ColumnOut"];
export type Cell = number | boolean | string | null;
export type Finding = Schemas["FindingOut"];
export type UploadReceipt = Schemas["UploadReceiptOut"];
export type ReportReceipt = Schemas["ReportReceiptOut"];
export type Revision = Schemas["RevisionOut"];
export type Replayed = Schemas["ReplayedOut"];
export type Verified = Schemas["VerifiedOut"];
export type LedgerEvent = Schemas["EventOut"];
export type EventPage = Schemas["EventPage"];
export type Key = Schemas["KeyOut"];
export type NewKey = Schemas["NewKey"];
export type Role = Schemas["Role"];
