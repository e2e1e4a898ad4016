import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Role } from './cluster.ts';
import { between, shuffled } from './random.ts';

export interface KillOptions {
  readonly kills: number;
  readonly random: () => number;
  /** The shortest and the longest pause between two kills. */
  readonly pauseMs: readonly [number, number];
  /** Longest time for which a killed process stays down. */
  readonly downMs: number;
  /** Time after which no more kills happen. */
  readonly deadline?: number;
  readonly onKill?: ((role: Role, count: number) => void) | undefined;
}

/**
 * Kills processes in random order, each equally often, and starts each again a moment later. Several may be down at a
 * time. Resolves when all are up again.
 * @returns the number of kills by role
 */
export async function killAtRandom(
  cluster: Cluster,
  { kills, random, pauseMs, downMs, deadline = Infinity, onKill }: KillOptions,
): Promise<ReadonlyMap<Role, number>> {
  const counts = new Map<Role, number>();
  const starting = new Map<Role, Promise<void>>();
  let order: Role[] = [];
  for (let count = 1; count <= kills; count += 1) {
    await sleep(between(random, ...pauseMs));
    if (Date.now() > deadline) break;
    if (order.length === 0) order = shuffled(random, cluster.roles);
    const role = order.shift()!;
    await starting.get(role);
    await cluster.kill(role);
    counts.set(role, (counts.get(role) ?? 0) + 1);
    onKill?.(role, count);
    const started = sleep(between(random, 0, downMs)).then(() => cluster.start(role));
    // The failure is awaited below. Until then it must not end the process as an unhandled rejection.
    started.catch(() => undefined);
    starting.set(role, started);
  }
  await Promise.all(starting.values());
  return counts;
}
