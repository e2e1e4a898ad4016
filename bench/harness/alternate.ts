/**
 * Measures two things in turn, A B B A A B …, so that changes on the machine fall on both alike.
 */
export async function alternate(
  rounds: number,
  measure: { value: () => Promise<number>; baseline: () => Promise<number> },
): Promise<{ value: number[]; baseline: number[] }> {
  const value: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      value.push(await measure.value());
      baseline.push(await measure.baseline());
    } else {
      baseline.push(await measure.baseline());
      value.push(await measure.value());
    }
  }
  return { value, baseline };
}

/**
 * Keeps `width` calls of `work` going and gives the calls a second that ended in `seconds`. The clock starts when the
 * first `width` of them have ended: until then nothing ends, for the longer the slower a call is, however many a second
 * there are afterwards.
 */
export async function rateFor(
  seconds: number,
  width: number,
  work: () => Promise<unknown>,
): Promise<number> {
  let end = Number.POSITIVE_INFINITY;
  let before = 0;
  let ended = 0;
  const keepWorking = async () => {
    while (performance.now() < end) {
      await work();
      if (before < width) {
        before += 1;
        if (before === width) end = performance.now() + seconds * 1_000;
      } else if (performance.now() <= end) ended += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, keepWorking));
  return ended / seconds;
}

/**
 * Keeps both going, one after the other, until their processes have settled: for half a minute V8 compiles beside the
 * work, the more the more code there is, which says nothing of a service that runs for weeks.
 */
export async function warmUp(
  width: number,
  { value, baseline }: { value: () => Promise<unknown>; baseline: () => Promise<unknown> },
): Promise<void> {
  await rateFor(15, width, baseline);
  await rateFor(30, width, value);
}

/** Returns the milliseconds that the work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
