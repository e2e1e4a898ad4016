import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { z } from 'zod';

import type { Log } from './child.ts';
import { identify, isRunning, stopProcess } from './processes.ts';
import type { ProcessIdentity, StopOptions } from './processes.ts';

/** A process that must not outlive the one that started it. */
export interface Guarded {
  name: string;
  identity: ProcessIdentity;
  stop: StopOptions;
}

const Identity = z.object({ pid: z.int().positive(), startedAt: z.string() });
const GuardedList = z.array(
  z.object({
    name: z.string(),
    identity: Identity,
    stop: z.object({
      signal: z.custom<NodeJS.Signals>((value) => typeof value === 'string').exactOptional(),
      graceMs: z.number().exactOptional(),
    }),
  }),
);
const PidFile = z.object({ owner: Identity.optional(), children: GuardedList });

/** Parses a list of processes; undefined for incomplete JSON, which an interrupted write leaves. */
export function parseGuarded(json: string): Guarded[] | undefined {
  return parse(GuardedList, json);
}

/** Stops the processes that still run, the last started first. */
export async function stopGuarded(processes: readonly Guarded[]): Promise<void> {
  for (const { identity, stop } of processes.toReversed()) await stopProcess(identity, stop);
}

/** Stores this process's children for the next start. */
export function savePidFile(path: string, children: readonly Guarded[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const content = { owner: identify(process.pid), children };
  writeFileSync(`${path}.new`, JSON.stringify(content, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Stops the processes that an earlier start left behind. Throws when that start is still alive. */
export async function stopSurvivors(path: string, log: Log): Promise<void> {
  const found = parse(PidFile, readIfThere(path));
  if (found?.owner && found.owner.pid !== process.pid && isRunning(found.owner)) {
    throw new Error(
      `Already running here, as process ${found.owner.pid}. Stop that one first (Ctrl-C in its terminal).`,
    );
  }
  const survivors = found?.children.filter(({ identity }) => isRunning(identity)) ?? [];
  if (survivors.length > 0) {
    log(`Stopping what an earlier start left: ${survivors.map(({ name }) => name).join(', ')}`);
    await stopGuarded(survivors);
  }
  rmSync(path, { force: true });
}

function parse<T>(schema: z.ZodType<T>, json: string): T | undefined {
  try {
    return schema.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
