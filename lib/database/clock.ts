import { setClockAhead } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Db } from './database.ts';

const EVERY_MS = 60_000;
/**
 * Difference from which the clock of this machine counts as wrong. A smaller difference may be an effect of the
 * network.
 */
const NEAR_MS = 3_000;
/**
 * Duration from which a measurement is too inexact to replace the present correction. The first measurement takes
 * longer, because it also opens a connection.
 */
const LONGEST_MS = 1_000;

/**
 * Compares the clock of this machine with that of Postgres, now and each minute, and warns when they differ by seconds.
 * The process corrects its clock by the difference until the next measurement.
 */
export async function keepClock(database: Db, log: Log): Promise<{ stop(): void }> {
  let wasWrong = false;
  const compare = async () => {
    const before = performance.now();
    const read = await database.row<{
      ms: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    const tookMs = performance.now() - before;
    if (read === undefined) return;
    const aheadMs = correctionMs({ aheadMs: Date.now() - tookMs / 2 - read.ms, tookMs, wasWrong });
    if (aheadMs === undefined) return;
    setClockAhead(aheadMs);
    const isWrong = aheadMs !== 0;
    if (isWrong) {
      log.warn(
        { aheadSeconds: Math.round(aheadMs / 1_000) },
        'the clock of this machine differs from that of Postgres: times are corrected, TLS and third parties may refuse it',
      );
    } else if (wasWrong) {
      log.info('the clock of this machine agrees with that of Postgres again');
    }
    wasWrong = isWrong;
  };
  // If the database is down, a later attempt compares the clock.
  const attempt = () => compare().catch(() => undefined);
  await attempt();
  const timer = setInterval(() => void attempt(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Returns the milliseconds by which the clock is ahead, 0 for a small difference; undefined when the measurement is too
 * inexact.
 */
export function correctionMs({
  aheadMs,
  tookMs,
  wasWrong,
}: {
  readonly aheadMs: number;
  readonly tookMs: number;
  readonly wasWrong: boolean;
}): number | undefined {
  // Postgres may have read its clock at any moment of the measurement.
  const isWrong = Math.abs(aheadMs) > NEAR_MS + tookMs / 2;
  if (tookMs > LONGEST_MS && (wasWrong || !isWrong)) return undefined;
  return isWrong ? Math.round(aheadMs) : 0;
}
