import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpLine {
  readonly port: number;
  /** Cuts the open connections. New ones pass. */
  cut(): void;
  /** Keeps connections open and forwards nothing. */
  hold(): void;
  /** Counts the connections so far. */
  connections(): number;
  stop(): Promise<void>;
}

/** Starts a proxy before a server on this machine, which a test can cut. */
export async function startTcpProxy(target: number): Promise<TcpLine> {
  const open = new Set<Socket>();
  let count = 0;
  let held = false;
  const server = createServer((client) => {
    count += 1;
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('data', (data) => void (held || to.write(data)));
      from.on('error', () => undefined);
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hold: () => {
      held = true;
    },
    connections: () => count,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
