import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '#dev/stack/child.ts';
import { superviseChildren } from '#dev/stack/children.ts';
import { isListening } from '#dev/stack/ports.ts';

export interface ServerOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Port on 127.0.0.1 at which the program listens. */
  readonly port: number;
  /** Environment in addition to the path and the home folder. Variables of this process are not passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Servers {
  /** A folder for the data of the file's tests, which is removed with them. */
  readonly folder: string;
  /** Starts a program and waits until it listens. */
  start(options: ServerOptions): Promise<Child>;
  close(): Promise<void>;
}

const START_MS = 120_000;

/** Starts third-party servers for one file of tests. They end with this process, however it ends. */
export async function openServers(): Promise<Servers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-real-'));
  const children = await superviseChildren({ dataDir: folder, log: () => undefined });
  const { PATH, HOME } = process.env;
  return {
    folder,
    async start({ name, command, args, port, env }) {
      const child = await children.spawn({
        name,
        command,
        args,
        cwd: folder,
        env: { PATH, HOME, ...env },
        logFile: path.join(folder, `${name}.log`),
      });
      const end = Date.now() + START_MS;
      while (!(await isListening(port))) {
        if (child.exit() !== undefined || Date.now() > end) {
          throw new Error(`${name} does not listen:\n${child.outputTail()}`);
        }
        await sleep(100);
      }
      return child;
    },
    async close() {
      await children.stopAll();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
