import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startBroker } from './broker.ts';
import type { Sandbox } from './sandbox.ts';

/** Barriers that Node's permission model has too; the others only bubblewrap has. */
const EXPECTED_OF_PROCESS = new Set(['broker answers', 'environment is empty']);

const walls = z.record(z.string(), z.boolean());

/**
 * Runs the probe in the sandbox, as sessions will run.
 * @throws naming the missing barriers, and the remedy
 */
export async function checkSandbox(sandbox: Sandbox): Promise<void> {
  const socketPath = sandbox.socketPath();
  const broker = await startBroker(socketPath);
  try {
    const probe = sandbox.launch('runtime/sandbox/probe.ts', socketPath);
    const timer = setTimeout(() => probe.kill(), 20_000);
    probe.stdin.end();
    const [output, said] = await Promise.all([text(probe.stdout), text(probe.stderr)]);
    clearTimeout(timer);
    const found = readWalls(output);
    if (found === undefined) throw new Error(`${HOW_TO_MEND}\nIt said: ${said.slice(0, 500)}`);
    const missing = Object.entries(found)
      .filter(([wall, stands]) => !stands && isExpected(wall, sandbox))
      .map(([wall]) => wall);
    if (missing.length > 0) {
      throw new Error(`The sandbox has holes: expected ${missing.join(', ')}.\n${HOW_TO_MEND}`);
    }
  } finally {
    await broker.close();
  }
}

const HOW_TO_MEND =
  'Model sessions cannot be kept apart on this machine. Install bubblewrap 0.8 or later ' +
  '(Debian: apt-get install bubblewrap) and let it create user namespaces: in a container that takes a seccomp ' +
  'profile that allows them, on Ubuntu 24.04 an AppArmor profile for bwrap. Outside production, ' +
  'MODEL_RUNTIME_SANDBOX=process does without.';

function isExpected(wall: string, sandbox: Sandbox): boolean {
  return sandbox.kind === 'bubblewrap' || EXPECTED_OF_PROCESS.has(wall);
}

function readWalls(output: string): Readonly<Record<string, boolean>> | undefined {
  try {
    return walls.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
}
