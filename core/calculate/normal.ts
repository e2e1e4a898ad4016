/**
 * Computes the standard normal distribution, to about 1e-14: a power series near the middle, a continued fraction in
 * the tail (Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical Software 11(4), 2004).
 */
function normalCdf(x: number): number {
  if (x < 0) return 1 - normalCdf(-x);
  if (x > 3) return 1 - upperTail(x);
  let term = x;
  let total = x;
  for (let i = 3; Math.abs(term) > 1e-17; i += 2) {
    term *= (x * x) / i;
    total += term;
  }
  return 0.5 + total * density(x);
}

/** Computes the chance of a value further from zero than `z`, on both sides. */
export function twoSided(z: number): number {
  const size = Math.abs(z);
  return size > 3 ? 2 * upperTail(size) : 2 * (1 - normalCdf(size));
}

/** Computes the value that a share `p` of the distribution lies below, found by halving. */
export function normalQuantile(p: number): number {
  let low = -9;
  let high = 9;
  for (let i = 0; i < 80; i += 1) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Computes the z of a two-sided interval: 1.96 for 0.95. */
export function criticalValue(confidence: number): number {
  return normalQuantile(0.5 + confidence / 2);
}

function upperTail(x: number): number {
  let fraction = x;
  for (let i = 80; i >= 1; i -= 1) fraction = x + i / fraction;
  return density(x) / fraction;
}

function density(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}
