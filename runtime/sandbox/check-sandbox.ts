import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseJson } from '#lib/exact-json/parse.ts';
import { startBroker } from './broker.ts';
import { CODE_ROOT, READABLE } from './command.ts';
import type { Sandbox } from './sandbox.ts';

/** Barriers that Node's permission model has too. The others need bubblewrap. */
const EXPECTED_OF_PROCESS = new Set(['broker answers', 'environment is empty']);

const walls = z.record(z.string(), z.boolean());

/** Runs the probe in the sandbox of sessions. @throws an error that names the missing barriers and the remedy */
export async function checkSandbox(sandbox: Sandbox): Promise<void> {
  const socketPath = sandbox.socketPath();
  const broker = await startBroker(socketPath);
  try {
    const probe = sandbox.launch('runtime/sandbox/probe.ts', socketPath);
    const timer = setTimeout(() => probe.kill(), 20_000);
    probe.stdin.end();
    const [output, said] = await Promise.all([text(probe.stdout), text(probe.stderr)]);
    clearTimeout(timer);
    const found = walls.safeParse(parseJson(output)).data;
    if (found === undefined) throw new Error(`${HOW_TO_MEND}\nIt said: ${said.slice(0, 500)}`);
    const missing = Object.entries(found)
      .filter(([wall, stands]) => !stands && (sandbox.kind === 'bubblewrap' || EXPECTED_OF_PROCESS.has(wall)))
      .map(([wall]) => wall);
    if (missing.length > 0) {
      throw new Error(`The sandbox has holes: expected ${missing.join(', ')}.\n${HOW_TO_MEND}`);
    }
  } finally {
    await broker.close();
  }
}

/**
 * Refuses secrets in places that every session can read: sessions run as the runtime's own user, so file modes do not
 * protect them.
 * @param secrets paths of the runtime's certificate, key, state and provider files
 * @throws an error that names the files
 */
export function checkPlaces(secrets: readonly string[]): void {
  const readable = READABLE.filter((folder) => existsSync(folder)).map((each) => realpathSync(each));
  const isBelow = (file: string) => {
    const real = existsSync(file) ? realpathSync(file) : path.resolve(file);
    return readable.some((folder) => real === folder || real.startsWith(`${folder}${path.sep}`));
  };
  const misplaced = [CODE_ROOT, ...secrets].filter(isBelow);
  if (misplaced.length === 0) return;
  throw new Error(
    `Every model session could read what lies here: ${misplaced.join(', ')}. Put the service and its files elsewhere ` +
      'than below /usr/lib and /usr/lib64, and its keys, state and provider files outside of its code.',
  );
}

const HOW_TO_MEND =
  'Model sessions cannot be kept apart on this machine. Install bubblewrap 0.8 or later ' +
  '(Debian: apt-get install bubblewrap) and let it create user namespaces: in a container that takes a seccomp ' +
  'profile that allows them, on Ubuntu 24.04 an AppArmor profile for bwrap. Outside production, ' +
  'MODEL_RUNTIME_SANDBOX=process does without.';
