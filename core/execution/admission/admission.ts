import type { Core } from '#core/core.ts';
import type { Engine, StartableRun } from '#core/foundation/engine/index.ts';
import { admitRuns, postponeStart, recordStarts, retakeUnstarted } from './admit.ts';
import type { AdmissionRule } from './room.ts';

export interface AdmissionDeps extends Pick<Core, 'database' | 'log'> {
  readonly engine: Pick<Engine, 'startRun'>;
  readonly rule: AdmissionRule;
}

export interface AdmissionReport {
  readonly started: number;
  /** True when Temporal could not be reached: the runs stay admitted and start once Temporal is back. */
  readonly unavailable: boolean;
}

export interface Admission {
  readonly rule: AdmissionRule;
  /**
   * Admits and starts runs until nothing more fits. A call during a round shares that round, which then repeats so that
   * it misses neither room nor a run.
   * @throws when Postgres cannot be reached
   */
  admit(): Promise<AdmissionReport>;
  /** Admits runs in the background, for callers that must not wait. A failure is logged, and the next call retries. */
  nudge(): void;
  /** Resolves when no round is running. */
  idle(): Promise<void>;
}

/** Number of concurrent starts: enough to keep Temporal's one shard busy, few enough to stop quickly. */
const CONCURRENCY = 32;

/**
 * Number of starts in flight at which the next runs are admitted. Each admission is a transaction under one lock:
 * admitting a batch costs Postgres a sixteenth of admitting its runs one by one, and Temporal stays busy meanwhile.
 */
const REFILL_AT = CONCURRENCY / 2;

/** Number of failed starts in a row after which the fault lies in Temporal and not in a run. */
const FAILURES_IN_A_ROW = 3;

const PAUSE_MS = 5_000;

export function createAdmission(deps: AdmissionDeps): Admission {
  let round: Promise<AdmissionReport> | undefined;
  let askedAgain = false;

  async function admitAll(): Promise<AdmissionReport> {
    let started = 0;
    do {
      askedAgain = false;
      const wave = await startAll(deps);
      started += wave.started;
      if (wave.unavailable) return { started, unavailable: true };
    } while (askedAgain);
    return { started, unavailable: false };
  }

  function admit(): Promise<AdmissionReport> {
    askedAgain = true;
    return (round ??= admitAll().finally(() => {
      round = undefined;
    }));
  }

  return {
    rule: deps.rule,
    admit,
    nudge() {
      admit().catch((err: unknown) => deps.log.warn({ err }, 'runs could not be admitted'));
    },
    async idle() {
      await round?.catch(() => undefined);
    },
  };
}

/** Starts admitted runs, `CONCURRENCY` at a time, until none is left or Temporal is away. */
async function startAll(deps: AdmissionDeps): Promise<AdmissionReport> {
  const { database, engine, rule, log } = deps;
  const underWay = new Set<Promise<void>>();
  const started: string[] = [];
  let failures = 0;

  async function start(run: StartableRun): Promise<void> {
    try {
      await engine.startRun(run);
      failures = 0;
      started.push(run.id);
    } catch (err) {
      failures += 1;
      log.warn({ err, runId: run.id }, 'a run could not be started and is tried again');
      // If Postgres is away too, let the lease end by itself.
      await postponeStart(database, run.id, PAUSE_MS).catch(() => undefined);
    }
  }

  async function take(limit: number): Promise<StartableRun[]> {
    const overdue = await retakeUnstarted(database, limit);
    if (overdue.length >= limit) return overdue;
    const next = await admitRuns(database, rule, limit - overdue.length);
    return [...overdue, ...next];
  }

  try {
    while (failures < FAILURES_IN_A_ROW) {
      const runs = await take(CONCURRENCY - underWay.size);
      if (runs.length === 0) break;
      for (const run of runs) {
        const starting: Promise<void> = start(run).finally(() => underWay.delete(starting));
        underWay.add(starting);
      }
      while (underWay.size > REFILL_AT) await Promise.race(underWay);
    }
  } finally {
    await Promise.all(underWay);
    await recordStarts(database, started);
  }
  return { started: started.length, unavailable: failures >= FAILURES_IN_A_ROW };
}
