// What the predictions of many candidates say about columns: how much each matters, and how the expectation runs along it.

import { get, query, studyApi } from "../../core/api.ts";
import { number } from "../../core/format.ts";
import type { CandidatePage, Cell, Column } from "../../core/types.ts";
import { type Believed, joined } from "./believed.ts";

const MOST = 5_000;
const BINS = 8;

// Candidates with predictions: all, or every so-many-th of a long list, so that every part of it is there.
export async function readPredicted(name: string, total: number): Promise<Believed[]> {
  const path = (offset: number, limit: number) =>
    studyApi(name, "/candidates") + query({ posterior: true, offset, limit });
  if (total <= MOST) return joined(await get<CandidatePage>(path(0, MOST)));
  const parts = Array.from({ length: 10 }, (_, part) => Math.floor((part * total) / 10));
  const read = await Promise.all(parts.map((offset) => get<CandidatePage>(path(offset, MOST / 10))));
  return read.flatMap(joined);
}

export interface Group {
  label: string;
  middle: number | null; // of a number column
  mean: number;
  low: number;
  high: number;
  count: number;
}

const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))] ?? Number.NaN;
}

// Values of a column by level, or by about equally full ranges of numbers.
export function groupsOf(column: Column, believed: Believed[]): Group[] {
  const pairs = believed.flatMap(({ features, belief }) => {
    const value: Cell | undefined = features[column.name];
    return belief && value !== null && value !== undefined ? [{ value, mean: belief.mean }] : [];
  });
  const grouped = new Map<string, { mean: number; value: Cell }[]>();
  const labelOf =
    column.kind === "number" ? binner(pairs.map(({ value }) => Number(value))) : (value: Cell) => String(value);
  for (const pair of pairs) grouped.set(labelOf(pair.value), [...(grouped.get(labelOf(pair.value)) ?? []), pair]);
  const groups = [...grouped].map(([label, members]) => {
    const means = members.map(({ mean }) => mean).sort((a, b) => a - b);
    const middle = column.kind === "number" ? average(members.map(({ value }) => Number(value))) : null;
    return {
      label,
      middle,
      mean: average(means),
      low: quantile(means, 0.1),
      high: quantile(means, 0.9),
      count: means.length,
    };
  });
  return groups.sort((a, b) => (a.middle !== null && b.middle !== null ? a.middle - b.middle : b.mean - a.mean));
}

function binner(values: number[]): (value: Cell) => string {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  if (distinct.length <= 2 * BINS) return (value) => number(Number(value), 4);
  const sorted = [...values].sort((a, b) => a - b);
  const edges = Array.from({ length: BINS + 1 }, (_, edge) => quantile(sorted, edge / BINS));
  return (value) => {
    const position = Math.max(
      0,
      edges.findLastIndex((edge, index) => index < BINS && Number(value) >= edge),
    );
    return `${number(edges[position] ?? 0, 3)} to ${number(edges[position + 1] ?? 0, 3)}`;
  };
}

export interface Importance {
  column: Column;
  share: number; // of the differences between predictions that this column alone explains
}

export function importances(columns: Column[], believed: Believed[]): Importance[] {
  const means = believed.flatMap(({ belief }) => (belief ? [belief.mean] : []));
  if (!means.length) return [];
  const middle = average(means);
  const whole = means.reduce((sum, mean) => sum + (mean - middle) ** 2, 0);
  const share = (column: Column) =>
    groupsOf(column, believed).reduce((sum, group) => sum + group.count * (group.mean - middle) ** 2, 0) / (whole || 1);
  return columns
    .filter((column) => column.role === "feature")
    .map((column) => ({ column, share: Math.min(1, share(column)) }))
    .sort((a, b) => b.share - a.share);
}
