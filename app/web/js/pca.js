// The first two principal components of the features: columns standardised, texts one-hot, power iteration.

const ROUNDS = 60,
  MOST = 120;

// rows: [{ name: value }], columns: [{ name, kind, levels }] → [[x, y], …]
export function principalComponents(rows, columns) {
  const matrix = standardised(rows, columns);
  if (!matrix.length || !matrix[0].length) return rows.map(() => [0, 0]);
  const covariance = productOf(matrix);
  const first = leading(covariance);
  const second = leading(deflated(covariance, first));
  return matrix.map((row) => [dot(row, first.vector), dot(row, second.vector)]);
}

function standardised(rows, columns) {
  const parts = [];
  for (const { name, kind, levels } of columns) {
    if (kind === "text") for (const level of levels.slice(0, 30)) parts.push((row) => (row[name] === level ? 1 : 0));
    else parts.push((row) => Number(row[name] ?? Number.NaN));
  }
  const scaled = parts
    .slice(0, MOST)
    .map((part) => {
      const values = rows.map(part);
      const known = values.filter(Number.isFinite);
      const mean = known.reduce((sum, value) => sum + value, 0) / (known.length || 1);
      const spread = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (known.length || 1));
      return spread > 0 ? values.map((value) => (Number.isFinite(value) ? (value - mean) / spread : 0)) : null;
    })
    .filter(Boolean);
  return rows.map((_, i) => scaled.map((column) => column[i]));
}

function productOf(matrix) {
  const width = matrix[0].length;
  const product = Array.from({ length: width }, () => new Float64Array(width));
  for (const row of matrix)
    for (let i = 0; i < width; i += 1) for (let j = i; j < width; j += 1) product[i][j] += row[i] * row[j];
  for (let i = 0; i < width; i += 1) for (let j = 0; j < i; j += 1) product[i][j] = product[j][i];
  return product;
}

function leading(matrix) {
  let vector = matrix.map((_, i) => Math.cos(1 + i)),
    value = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = matrix.map((row) => dot(row, vector));
    value = Math.sqrt(dot(next, next)) || 1;
    vector = next.map((part) => part / value);
  }
  return { vector, value };
}

const deflated = (matrix, { vector, value }) =>
  matrix.map((row, i) => Array.from(row, (part, j) => part - value * vector[i] * vector[j]));
const dot = (a, b) => a.reduce((sum, part, i) => sum + part * b[i], 0);
