import type { Log } from '#lib/log.ts';

/** Attempts one part of a tick. On an error, logs and collects it and returns `otherwise`. */
export async function attempt<T>(
  { log }: { readonly log: Log },
  faults: unknown[],
  part: string,
  work: () => Promise<T>,
  otherwise: T,
): Promise<T> {
  try {
    return await work();
  } catch (err) {
    log.error({ err, part }, 'part of a tick failed');
    faults.push(err);
    return otherwise;
  }
}
