import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '#dev/stack/ports.ts';

export interface TcpProxy {
  /** `host:port` to use in place of the target's. */
  readonly address: string;
  /** Cuts every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Cuts every connection once this many more have been opened; resolves after the cut. */
  cutAtConnection(count: number): Promise<void>;
  /** Lets connections through again. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy before a server that a test wants to be away for a while. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(`tcp://${target}`);
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  let onConnection: () => void = () => undefined;

  const open = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const mend = () =>
    new Promise<void>((resolve, reject) => {
      server = createServer((client) => {
        const upstream = open(connect(Number(targetPort), hostname));
        open(client).pipe(upstream).pipe(client);
        onConnection();
        client.once('close', () => upstream.destroy());
        upstream.once('close', () => client.destroy());
      });
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  const cut = () =>
    new Promise<void>((resolve) => {
      if (server === undefined) return resolve();
      server.close(() => resolve());
      server = undefined;
      for (const socket of sockets) socket.destroy();
    });
  const cutAtConnection = (count: number) =>
    new Promise<void>((resolve) => {
      let left = count;
      onConnection = () => {
        left -= 1;
        if (left === 0) resolve(cut());
      };
    });
  await mend();
  return { address: `127.0.0.1:${port}`, cut, cutAtConnection, mend, close: cut };
}
