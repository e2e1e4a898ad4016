import { startCluster, type Cluster } from './cluster.ts';
import { figures } from './figures.ts';
import { violations } from './invariants.ts';
import { killAtRandom, type KillOptions } from './kills.ts';
import { startLoad, type Load } from './load.ts';
import { seededRandom } from './random.ts';
import { settled } from './settled.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly kills: number;
  readonly pauseMs: readonly [number, number];
  readonly downMs: number;
  readonly clients: number;
  /** Longest time after the last kill in which nothing ends although work is left. */
  readonly stuckMs: number;
  /** Time after which kills stop, even if there were few. */
  readonly maxKillingMs?: number;
  readonly log: (line: string) => void;
  readonly onKill?: KillOptions['onKill'];
  /** Called at the end, while all processes are up. */
  readonly inspect?: (load: Load) => Promise<void>;
}

export interface ChaosReport {
  readonly kills: number;
  readonly violations: readonly string[];
  readonly figures: readonly string[];
  /** The most runs that were open at a time, to compare with `SLOTS`. */
  readonly mostOpenRuns: number;
}

const WORKERS = 2;
/** Steps that all workers together make at a time, fewer than the runs that the clients keep open. */
export const SLOTS = 6;

/** Kills processes at random under load, waits until all work has ended, and reports the figures. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, log } = options;
  const random = seededRandom(seed);
  const begun = Date.now();
  const seconds = (from: number) => `${((Date.now() - from) / 1_000).toFixed(1)} s`;
  const cluster = await startCluster({
    apis: 2,
    workers: WORKERS,
    env: {
      WORKER_CONCURRENCY: String(SLOTS / WORKERS),
      // The timeout is short, so that the reservation of a killed worker is released within a minute, during further
      // kills.
      MODEL_STEP_TIMEOUT_SECONDS: '20',
    },
  });
  try {
    const load = await startLoad(cluster, {
      random,
      clients: options.clients,
      routinesOfEachKind: 2,
    });
    try {
      log(`seed ${seed}; up after ${seconds(begun)}`);
      const killing = Date.now();
      const byRole = await killAtRandom(cluster, {
        ...options,
        // A seed of its own, so that the order of kills does not depend on the speed of responses.
        random: seededRandom(seed + 1),
        deadline: killing + (options.maxKillingMs ?? Infinity),
      });
      const kills = [...byRole.values()].reduce((sum, count) => sum + count, 0);
      const per = [...byRole].map(([role, count]) => `${role} ${count}`);
      log(`${kills} kills in ${seconds(killing)}: ${per.join(', ')}`);
      const settling = Date.now();
      await load.finish();
      log(`every client had its answer after ${seconds(settling)}`);
      await settled(cluster, load.database, options.stuckMs, log);
      log(`everything had ended after ${seconds(settling)}`);
      load.modelCalls.read();
      const report = {
        kills,
        violations: [...(await violations(load)), ...crashes(cluster)],
        figures: await figures(cluster, load),
        mostOpenRuns: load.mostOpenRuns(),
      };
      await options.inspect?.(load);
      return report;
    } finally {
      await load.close();
    }
  } finally {
    await cluster.close();
  }
}

/** Lists the processes that ended without a kill; a process must survive the failures of others. */
function crashes({ deaths }: Cluster): string[] {
  return deaths.map(({ role, lastWords }) => `${role} ended by itself: ${lastWords}`);
}
