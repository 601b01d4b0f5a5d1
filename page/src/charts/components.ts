// The first two principal components of the features: columns standardised, texts one-hot, power iteration.

import type { Cell, Column } from "../core/types.ts";

const ROUNDS = 60;
const MOST = 120;
const LEVELS = 30;

type Vector = number[];

export function principalComponents(rows: Record<string, Cell>[], columns: Column[]): [number, number][] {
  const matrix = standardised(rows, columns);
  if (!matrix[0]?.length) return rows.map(() => [0, 0]);
  const covariance = productOf(matrix);
  const first = leading(covariance);
  const second = leading(deflated(covariance, first));
  return matrix.map((row) => [dot(row, first.vector), dot(row, second.vector)]);
}

function standardised(rows: Record<string, Cell>[], columns: Column[]): Vector[] {
  const parts: ((row: Record<string, Cell>) => number)[] = [];
  for (const { name, kind, levels } of columns) {
    if (kind === "text")
      for (const level of levels.slice(0, LEVELS)) parts.push((row) => (row[name] === level ? 1 : 0));
    else parts.push((row) => Number(row[name] ?? Number.NaN));
  }
  const scaled = parts
    .slice(0, MOST)
    .map((part) => scale(rows.map(part)))
    .filter((column) => column !== null);
  return rows.map((_, position) => scaled.map((column) => column[position] ?? 0));
}

function scale(values: Vector): Vector | null {
  const known = values.filter(Number.isFinite);
  const count = known.length || 1;
  const mean = known.reduce((sum, value) => sum + value, 0) / count;
  const spread = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count);
  return spread > 0 ? values.map((value) => (Number.isFinite(value) ? (value - mean) / spread : 0)) : null;
}

function productOf(matrix: Vector[]): Vector[] {
  const width = matrix[0]?.length ?? 0;
  const product = Array.from({ length: width }, () => new Array<number>(width).fill(0));
  for (const row of matrix)
    row.forEach((left, i) => {
      const line = product[i];
      if (line) for (let j = 0; j < width; j += 1) line[j] = (line[j] ?? 0) + left * (row[j] ?? 0);
    });
  return product;
}

function leading(matrix: Vector[]): { vector: Vector; value: number } {
  let vector = matrix.map((_, position) => Math.cos(1 + position));
  let value = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = matrix.map((row) => dot(row, vector));
    value = Math.sqrt(dot(next, next)) || 1;
    vector = next.map((part) => part / value);
  }
  return { vector, value };
}

const deflated = (matrix: Vector[], { vector, value }: { vector: Vector; value: number }) =>
  matrix.map((row, i) => row.map((part, j) => part - value * (vector[i] ?? 0) * (vector[j] ?? 0)));
const dot = (a: Vector, b: Vector) => a.reduce((sum, part, position) => sum + part * (b[position] ?? 0), 0);
