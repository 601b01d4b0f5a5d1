// What an ask says: how many measurements, of which candidates, and what they share. As a form holds it, and as it is sent.

import { difference, percent, plural } from "../../core/format.ts";
import type { AskBody, Finding } from "../../core/types.ts";

export type How = "most" | "exactly" | "least";
export type Sharing = "same" | "at_most" | "per";

export interface Rule {
  column: string;
  sharing: Sharing;
  number: number;
}

export interface Favourite {
  key: string;
  replicates: number;
}

export interface Terms {
  worker: string;
  how: How;
  number: string;
  where: string[];
  include: Favourite[];
  exclude: string[];
  rules: Rule[];
  wells: number | null;
}

export const plainTerms = (worker: string): Terms => ({
  worker,
  how: "most",
  number: "",
  where: [],
  include: [],
  exclude: [],
  rules: [],
  wells: null,
});

export function bodyOf(terms: Terms): AskBody {
  const { worker, where, include, exclude } = terms;
  const composition = compositionOf(terms);
  return {
    worker: worker.trim(),
    ...sizesOf(terms),
    ...(where.length ? { where } : {}),
    ...(include.length ? { include } : {}),
    ...(exclude.length ? { exclude } : {}),
    ...(composition ? { composition } : {}),
  };
}

function sizesOf({ how, number }: Terms): AskBody {
  const size = Number(number);
  if (!size) return {};
  if (how === "exactly") return { min_size: size, max_size: size };
  return how === "least" ? { min_size: size } : { max_size: size };
}

function compositionOf({ rules, wells }: Terms): AskBody["composition"] {
  if (!rules.length && !wells) return null;
  const limits = (sharing: Sharing) =>
    Object.fromEntries(rules.filter((rule) => rule.sharing === sharing).map(({ column, number }) => [column, number]));
  return {
    same: rules.filter((rule) => rule.sharing === "same").map(({ column }) => column),
    at_most: limits("at_most"),
    per: limits("per"),
    wells,
  };
}

export function ruleWords({ column, sharing, number }: Rule): string {
  if (sharing === "same") return `one ${column} for the whole batch`;
  if (sharing === "at_most") return `at most ${plural(number, "value")} of ${column}`;
  return `at most ${plural(number, "measurement")} for each ${column}`;
}

const NAMES: Record<string, string> = {
  where: "The filter",
  include: "Your own candidates",
  exclude: "What you left out",
};

function nameOf(term: string, { rules }: Terms): string {
  const stated = rules.filter((rule) => rule.sharing === term).map(ruleWords);
  const words = stated.length ? stated.join(" and ") : (NAMES[term] ?? term);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// "One temperature for the whole batch costs 2.1 percentage points." Without a unit (null), the price is a share.
export function priceWords(term: string, price: number, terms: Terms, unit: string | null): string {
  const name = nameOf(term, terms);
  if (!(price > 0)) return `${name}: costs nothing.`;
  return `${name}: costs ${unit === null ? `${percent(price)} of the front` : difference(price, unit, 2)}.`;
}

// Where in the form the server's complaint belongs, in the form's own words.
export function placeOf({ pointer }: Finding, terms: Terms): string | null {
  const [part = "", detail = "", column = ""] = pointer?.split("/").slice(1) ?? [];
  if (part === "where") return terms.where[Number(detail)] ?? "Filter";
  if (part === "include") return terms.include[Number(detail)]?.key ?? "Your own candidates";
  if (part === "exclude") return terms.exclude[Number(detail)] ?? "Leave out";
  if (detail === "wells") return "Plate";
  if (detail === "same") return compositionOf(terms)?.same?.[Number(column)] ?? "One value";
  if (part === "composition") return column || null;
  return { worker: "Worker", min_size: "Number", max_size: "Number" }[part] ?? null;
}
