// Fields that newer servers send and the OpenAPI document of this checkout may not have yet. All are optional: what is
// absent is not shown. Delete an entry as soon as the generated types have it.

export interface Objective {
  name: string;
  unit?: string;
  direction?: "maximize" | "minimize";
}

export interface SettingsExtras {
  objectives?: Objective[];
}

export interface CertificateExtras {
  remaining_gain?: { expected: number; upper: number } | null;
  chance_best_is_measured?: number | null;
  next_batch?: { chance: number; gain: number } | null;
  candidates_still_possible?: number | null;
  advice?: { do: string; why: string } | null;
}

export interface SummaryExtras {
  objectives?: Objective[];
}

export interface ObservationExtras {
  values?: Record<string, number> | null;
}

export interface SuggestionExtras {
  values?: Record<string, number> | null;
}
