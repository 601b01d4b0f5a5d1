// From values to pixels, and the round numbers in between.

export function linear([from, to], [start, end]) {
  const span = to - from || 1;
  const scale = (value) => start + ((value - from) / span) * (end - start);
  scale.domain = [from, to];
  scale.invert = (pixel) => from + ((pixel - start) / (end - start)) * span;
  return scale;
}

export function extent(values) {
  let low = Number.POSITIVE_INFINITY,
    high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

// A domain that ends on round numbers, with a little air where all values are the same.
export function nice([low, high], wanted = 4) {
  if (low === high) {
    const air = Math.abs(low) * 0.1 || 1;
    [low, high] = [low - air, high + air];
  }
  const step = stepOf(high - low, wanted);
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
}

export function ticks([low, high], wanted = 4, whole = false) {
  const step = Math.max(stepOf(high - low || 1, wanted), whole ? 1 : 0);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function stepOf(span, wanted) {
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const off = (factor) => Math.abs(Math.log((factor * power) / rough));
  return power * [1, 2, 5, 10].reduce((best, factor) => (off(factor) < off(best) ? factor : best));
}
