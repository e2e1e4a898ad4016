import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { spawnChild } from './child.ts';
import type { Child, ChildExit, Log, SpawnChild } from './child.ts';
import { savePidFile, stopSurvivors } from './guarded.ts';
import type { Guarded } from './guarded.ts';

/** Makes the watchdog guard a process. Returns a function that ends the guard. */
export type Guard = (process: Guarded) => () => void;

export interface Children {
  spawn: SpawnChild;
  guard: Guard;
  /** Stops all children, the last started first, and then the watchdog. */
  stopAll(): Promise<void>;
}

export interface ChildrenOptions {
  /** The folder of these processes, which contains `pids.json`. */
  dataDir: string;
  log: Log;
  /** Called when a child ends by itself. */
  onUnexpectedExit?: (child: Child, exit: ChildExit) => void;
}

/**
 * Starts children that end when this process ends, for any reason. If this process is killed, a watchdog stops them: a
 * small process in a session of its own that notices when the kernel closes our end of its pipe. That works for every
 * binary and on every platform (a parent-death signal is Linux only). If the watchdog is killed too, the next start
 * finds the survivors in `pids.json` and stops them first. Throws when another living process owns the folder.
 */
export async function superviseChildren({
  dataDir,
  log,
  onUnexpectedExit = () => {},
}: ChildrenOptions): Promise<Children> {
  const pidFile = join(dataDir, 'pids.json');
  await stopSurvivors(pidFile, log);

  const guarded = new Set<Guarded>();
  const started: Promise<Child>[] = [];
  let stopping = false;
  const watchdog = keepWatchdog(() => [...guarded], log);
  const publish = (): void => {
    if (stopping) return;
    savePidFile(pidFile, [...guarded]);
    watchdog.update();
  };
  publish();

  const guard: Guard = (entry) => {
    guarded.add(entry);
    publish();
    return () => {
      guarded.delete(entry);
      publish();
    };
  };

  return {
    guard,
    spawn: async (options) => {
      if (stopping) throw new Error(`${options.name} is not started: everything is stopping.`);
      const starting = spawnChild(options);
      started.push(starting);
      const child = await starting;
      const { name, identity, stopOptions } = child;
      const release = identity && guard({ name, identity, stop: stopOptions });
      let stopped = false;
      const whenEnded = async (): Promise<void> => {
        const exit = await child.exited;
        release?.();
        const expected = stopped || stopping || options.isStarting?.();
        if (!expected) onUnexpectedExit(child, exit);
      };
      void whenEnded();
      return {
        ...child,
        stop: () => {
          stopped = true;
          return child.stop();
        },
      };
    },
    stopAll: async () => {
      stopping = true;
      for (const starting of started.toReversed()) {
        await starting.then((child) => child.stop()).catch(() => {});
      }
      await watchdog.stop();
      rmSync(pidFile, { force: true });
    },
  };
}

/** Limit of restarts of a killed watchdog. */
const MAX_WATCHDOGS = 10;

function keepWatchdog(children: () => readonly Guarded[], log: Log) {
  let current: ChildProcess;
  let stopping = false;
  let started = 0;
  const update = (): void => {
    current.stdin?.write(`${JSON.stringify(children())}\n`);
  };
  const start = (): void => {
    started += 1;
    current = spawnWatchdog();
    current.once('exit', () => {
      if (stopping) return;
      if (started < MAX_WATCHDOGS) start();
      else log('The watchdog does not stay up: a kill -9 would leave processes until the next start.');
    });
    update();
  };
  start();
  return {
    update,
    stop: async (): Promise<void> => {
      stopping = true;
      if (current.exitCode !== null || current.signalCode !== null) return;
      const gone = new Promise((resolve) => current.once('exit', resolve));
      // Keep this process alive only while it waits for the end of the watchdog.
      current.ref();
      current.stdin?.end('[]\n');
      await gone;
    },
  };
}

function spawnWatchdog(): ChildProcess {
  const script = fileURLToPath(new URL('watchdog.ts', import.meta.url));
  const watchdog = spawn(process.execPath, [script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    windowsHide: true,
  });
  // Neither the watchdog nor its pipe keeps this process alive. A write to a watchdog that was just killed is no fault.
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  watchdog.stdin?.on('error', () => {});
  return watchdog;
}
