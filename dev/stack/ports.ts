import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Hosts to try. Loopback alone would miss a listener on all addresses (macOS allows both), and the wildcard alone would
 * miss one on loopback.
 */
const HOSTS = ['127.0.0.1', '::'];

/** Throws an error for the user when `port` is taken on this machine. It names `variable`, which changes the port. */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  for (const host of HOSTS) {
    const code = await listenPatiently(port, host);
    if (code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is already in use. Stop the program that listens there, set ${variable} to another port, or PORT_OFFSET (to 100, say) to move all ports.`,
      );
    }
    if (code === 'EACCES') {
      throw new Error(`Port ${port} may not be used by this user. Set ${variable} to a port above 1023.`);
    }
  }
}

/** Longest life of a killed process's socket after the process. */
const RELEASE_MS = 1_000;

async function listenPatiently(port: number, host: string): Promise<string | undefined> {
  const end = Date.now() + RELEASE_MS;
  for (;;) {
    const code = await listenOnce(port, host);
    if (code !== 'EADDRINUSE' || Date.now() > end) return code;
    await sleep(50);
  }
}

/** Tells whether something listens at this port for longer than the socket of a killed process would. */
export async function staysTaken(port: number): Promise<boolean> {
  const end = Date.now() + RELEASE_MS;
  while (await isListening(port)) {
    if (Date.now() > end) return true;
    await sleep(50);
  }
  return false;
}

/**
 * Range of ports below those that Linux (from 32768) and macOS (from 49152) assign to outgoing connections and to
 * listeners on port 0.
 */
const FREE_PORTS = { from: 20_000, to: 32_000 };

const given = new Set<number>();

/**
 * Returns a free port for tests that the operating system does not assign meanwhile. A process gets each port once, and
 * two processes hardly ever choose the same.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FREE_PORTS.from, FREE_PORTS.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  for (const host of HOSTS) if ((await listenOnce(port, host)) === 'EADDRINUSE') return false;
  return true;
}

/** Returns true when something accepts connections on 127.0.0.1 at this port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Tries to listen once and returns the error code. A host that this machine lacks (no IPv6) is no error. */
function listenOnce(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
