/** Draws numbers between 0 and 1 from a seed, so that a world is the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Returns the quantiles of the number of events in an exposure: binomial where events are a share of what is exposed,
 * otherwise Poisson.
 */
export function quantilesOf(
  exposure: number,
  rate: number,
  share: boolean,
): (quantile: number) => number {
  let log = share ? exposure * Math.log1p(-rate) : -exposure * rate;
  const cumulated = [Math.exp(log)];
  for (let k = 1; cumulated.at(-1)! < 1 - 1e-9 && k < 1e6; k += 1) {
    const ratio = share ? (((exposure - k + 1) / k) * rate) / (1 - rate) : (exposure * rate) / k;
    log += Math.log(ratio);
    cumulated.push(cumulated.at(-1)! + Math.exp(log));
  }
  return (quantile) => {
    let [low, high] = [0, cumulated.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulated[middle]! < quantile) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
