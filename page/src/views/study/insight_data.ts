// What the predictions of many candidates say about columns: how much each matters, and how the expectation runs along it.

import { get, query, studyApi } from "../../core/api.ts";
import { number } from "../../core/format.ts";
import type { CandidatePage, Cell, Column, Prediction } from "../../core/types.ts";
import { type Believed, joined } from "./believed.ts";

const MOST = 5_000;
const PARTS = 10;
const BINS = 8;

export interface PredictedList {
  sample: Believed[]; // all candidates, or as many of a long list, from every part of it
  measured: Believed[]; // every candidate with a result, also of a long list
  total: number;
}

const isMeasured = ({ belief }: Believed) => (belief?.counts ?? 0) > 0;

// Candidates with predictions. Averages are taken over a sample of a long list; what was measured is never left out.
export async function readPredicted(name: string, total: number): Promise<PredictedList> {
  if (total <= MOST) {
    const sample = await readBlock(name, 0, total);
    return { sample, measured: sample.filter(isMeasured), total };
  }
  const starts = Array.from({ length: PARTS }, (_, part) => Math.floor((part * total) / PARTS));
  const [measured, ...parts] = await Promise.all([
    readBlock(name, 0, total, ["counts>=1"]),
    ...starts.map((start) => readBlock(name, start, start + MOST / PARTS)),
  ]);
  return { sample: parts.flat(), measured: measured ?? [], total };
}

// The candidates of the list between two positions. With many columns, the server's pages are shorter than requested.
async function readBlock(name: string, start: number, end: number, where: string[] = []): Promise<Believed[]> {
  const found: Believed[] = [];
  for (let last = end; start + found.length < last; ) {
    const limit = Math.min(MOST, last - start - found.length);
    const asked = query({ posterior: true, offset: start + found.length, limit, where });
    const page = await get<CandidatePage>(studyApi(name, "/candidates") + asked);
    found.push(...joined(page));
    last = page.candidates.length ? Math.min(end, page.total) : 0;
  }
  return found;
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

interface Member {
  value: Cell;
  mean: number;
}

// The label under which a value of the column is grouped: its level, or one of about equally full ranges of numbers.
function labeller(column: Column, believed: Believed[]): (value: Cell) => string {
  if (column.kind !== "number") return String;
  return binner(believed.map(({ features }) => Number(features[column.name] ?? Number.NaN)).filter(Number.isFinite));
}

function gather<T>(members: [string, T][]): Map<string, T[]> {
  const gathered = new Map<string, T[]>();
  for (const [label, member] of members) {
    const known = gathered.get(label);
    if (known) known.push(member);
    else gathered.set(label, [member]);
  }
  return gathered;
}

export function groupsOf(column: Column, believed: Believed[]): Group[] {
  const labelOf = labeller(column, believed);
  const members = believed.flatMap(({ features, belief }): [string, Member][] => {
    const value = features[column.name];
    return belief && value !== null && value !== undefined ? [[labelOf(value), { value, mean: belief.mean }]] : [];
  });
  const groups = [...gather(members)].map(([label, group]) => groupOf(label, group, column.kind === "number"));
  return groups.sort((a, b) => (a.middle !== null && b.middle !== null ? a.middle - b.middle : b.mean - a.mean));
}

function groupOf(label: string, members: Member[], isNumber: boolean): Group {
  const means = members.map(({ mean }) => mean).sort((a, b) => a - b);
  const middle = isNumber ? average(members.map(({ value }) => Number(value))) : null;
  const [low, high] = [quantile(means, 0.1), quantile(means, 0.9)];
  return { label, middle, mean: average(means), low, high, count: means.length };
}

export interface Tile {
  across: string;
  up: string;
  mean: number;
  std: number; // of one candidate among them, on average
  count: number;
}

// The average expectation for each pair of groups of two columns.
export function tilesOf(across: Column, up: Column, believed: Believed[]): Tile[] {
  const [labelAcross, labelUp] = [labeller(across, believed), labeller(up, believed)];
  const members = believed.flatMap(({ features, belief }): [string, Prediction][] => {
    const [here, there] = [features[across.name], features[up.name]];
    const known = belief && here !== null && here !== undefined && there !== null && there !== undefined;
    return known ? [[JSON.stringify([labelAcross(here), labelUp(there)]), belief]] : [];
  });
  return [...gather(members)].map(([labels, beliefs]) => {
    const [first, second] = JSON.parse(labels) as [string, string];
    const [mean, std] = [average(beliefs.map((belief) => belief.mean)), average(beliefs.map((belief) => belief.std))];
    return { across: first, up: second, mean, std, count: beliefs.length };
  });
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
