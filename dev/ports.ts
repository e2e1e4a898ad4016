import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Loopback alone would miss a listener on every address (macOS allows both), the wildcard alone one on loopback. */
const HOSTS = ['127.0.0.1', '::'];

/**
 * Throws an error fit for a user's eyes when `port` is taken on this machine;
 * `variable` is the environment variable that moves it.
 */
export const assertPortFree = async (port: number, variable: string): Promise<void> => {
  for (const host of HOSTS) {
    const code = await listenPatiently(port, host);
    if (code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is already in use. Stop the program that listens there, or set ${variable} to another port.`,
      );
    }
    if (code === 'EACCES') {
      throw new Error(
        `Port ${port} may not be used by this user. Set ${variable} to a port above 1023.`,
      );
    }
  }
};

/** The socket of a process that was just killed may stay for an instant longer than the process. */
const RELEASE_MS = 1_000;

const listenPatiently = async (port: number, host: string): Promise<string | undefined> => {
  const end = Date.now() + RELEASE_MS;
  for (;;) {
    const code = await listenOnce(port, host);
    if (code !== 'EADDRINUSE' || Date.now() > end) return code;
    await sleep(50);
  }
};

/** Whether something goes on listening at this port, beyond the instant that a killed process may take. */
export const staysTaken = async (port: number): Promise<boolean> => {
  const end = Date.now() + RELEASE_MS;
  while (await isListening(port)) {
    if (Date.now() > end) return true;
    await sleep(50);
  }
  return false;
};

/** A port that was free on 127.0.0.1 a moment ago; for tests. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('The operating system gave no port.'));
      });
    });
  });

/** Whether something accepts connections on 127.0.0.1 at this port. */
export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** The error code of one attempt to listen; a host this machine lacks (no IPv6) is no obstacle. */
const listenOnce = (port: number, host: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
