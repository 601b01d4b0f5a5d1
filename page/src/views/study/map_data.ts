// What the map draws: numbers of all candidates as packed arrays, and whole candidates where they are named.

import { get, query, send, studyApi } from "../../core/api.ts";
import { beliefOf, isSeveral } from "../../core/quantities.ts";
import type { CandidatePage, Quantity } from "../../core/types.ts";
import { type Believed, joined } from "./believed.ts";
import type { Facts } from "./facts.ts";

export const MOST = 100_000; // candidates on one map
const MOST_NAMED = 2_000; // measured candidates that the arrow keys walk through
const AT_ONCE = 1_000; // candidates asked for by their places: an address must not be too long

export type Colour = "mean" | "std" | "ucb";

export interface Shown {
  x: string; // a column; empty for the map of similarity
  y: string;
  colour: Colour;
  quantity: Quantity;
}

export interface Mapped {
  shown: Shown; // what was asked for
  x: Float32Array; // a number, or the position of a level
  y: Float32Array;
  shade: Float32Array; // NaN while nothing is expected
  counts: Float32Array;
  pending: Float32Array;
  available: Float32Array;
  named: Map<number, Believed>; // what is measured, on a bench or marked, by its place in the list
}

// The server's name of what the dots are coloured by.
function shadeOf({ colour, quantity }: Shown, { summary }: Facts): string {
  const best = quantity.direction === "minimize" ? "lower" : "upper";
  const what = colour === "ucb" ? best : colour;
  return isSeveral(summary) ? `${quantity.name} ${what}` : what;
}

// Arrays of equal length, one after the other: little-endian, as every browser reads them.
async function readArrays(name: string, shown: Shown, facts: Facts): Promise<Float32Array[]> {
  const column = shown.x ? [shown.x, shown.y || shown.x] : [];
  const posterior = [shadeOf(shown, facts), "counts", "pending"];
  const asked = query({ column, posterior, similarity: !shown.x, limit: MOST });
  const answer = await send("GET", studyApi(name, "/arrays") + asked);
  const packed = new Float32Array(await answer.arrayBuffer());
  const rows = packed.length / 6;
  return Array.from({ length: 6 }, (_, position) => packed.subarray(position * rows, (position + 1) * rows));
}

export async function readMap(facts: Facts, shown: Shown, keys: string[]): Promise<Mapped> {
  const { name } = facts;
  const [arrays, ...lists] = await Promise.all([
    readArrays(name, shown, facts),
    readSome(name, { where: "measured", limit: MOST_NAMED }),
    readSome(name, { where: "pending", limit: MOST_NAMED }),
    keys.length ? readSome(name, { key: keys, limit: MOST_NAMED }) : [],
  ]);
  const nothing = new Float32Array();
  const [first = nothing, second = nothing, third = nothing, fourth = nothing, fifth = nothing] = arrays;
  const available = arrays[5] ?? nothing;
  const named = new Map(lists.flat().map((candidate) => [candidate.number, candidate]));
  const [x, y, shade, counts, pending] = shown.x
    ? [first, second, third, fourth, fifth]
    : [fourth, fifth, first, second, third];
  return { shown, x, y, shade, counts, pending, available, named };
}

async function readSome(name: string, asked: Parameters<typeof query>[0]): Promise<Believed[]> {
  const path = studyApi(name, "/candidates") + query({ ...asked, posterior: true });
  return joined(await get<CandidatePage>(path));
}

// One candidate by its place in the list: the list's own order.
export async function readAt(name: string, place: number): Promise<Believed | undefined> {
  const [found] = await readSome(name, { offset: place, limit: 1 });
  return found;
}

export async function readPlaces(name: string, places: number[]): Promise<Believed[]> {
  const found: Believed[] = [];
  for (let start = 0; start < places.length; start += AT_ONCE) {
    const number = places.slice(start, start + AT_ONCE).map(String);
    found.push(...(await readSome(name, { number, limit: AT_ONCE })));
  }
  return found;
}

export const ofQuantity = (candidate: Believed, { name }: Quantity): Believed => ({
  ...candidate,
  belief: beliefOf(candidate.belief, name),
});

// Whether a point lies inside a polygon: an odd number of its edges lies to one side.
export function isInside(x: number, y: number, polygon: [number, number][]): boolean {
  let inside = false;
  polygon.forEach(([x1, y1], position) => {
    const [x2, y2] = polygon.at(position - 1) ?? [x1, y1];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  });
  return inside;
}
