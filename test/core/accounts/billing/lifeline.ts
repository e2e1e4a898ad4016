import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '#dev/stack/ports.ts';

/**
 * Point at which a process is cut off: before one of its messages arrives, or after the message took effect and before
 * the response.
 */
export interface CutPoint {
  /** Number of the message since the point was set, from 1. */
  readonly message: number;
  readonly when: 'before' | 'after';
}

/**
 * All connections from a process to the servers that it uses. Once cut, nothing passes in either direction, as if the
 * process had died at that point: its open transactions are rolled back, and its later work has no effect.
 */
export interface Lifeline {
  /** `host:port` to use in place of each target, in their order. */
  readonly addresses: readonly string[];
  readonly isCut: boolean;
  cutAt(point: CutPoint): void;
  close(): Promise<void>;
}

export async function startLifeline(targets: readonly string[]): Promise<Lifeline> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  let point: CutPoint | undefined;
  let messages = 0;
  let isCut = false;

  const cut = () => {
    isCut = true;
    for (const server of servers) server.close();
    for (const socket of sockets) socket.destroy();
  };
  const open = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    return socket;
  };
  const join = (client: Socket, target: string) => {
    const { hostname, port } = new URL(`tcp://${target}`);
    const server = open(connect(Number(port), hostname));
    let awaited = false;
    client.on('data', (message: Buffer) => {
      if (point !== undefined) messages += 1;
      const isPoint = messages === point?.message && !isCut;
      if (isPoint && point?.when === 'before') return cut();
      awaited = isPoint;
      server.write(message);
    });
    // A response proves that the message took effect.
    server.on('data', (message: Buffer) => (awaited ? cut() : client.write(message)));
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  };
  const listen = async (target: string) => {
    const port = await freePort();
    const server = createServer((client) => join(open(client), target));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    servers.push(server);
    return `127.0.0.1:${port}`;
  };
  const addresses = await Promise.all(targets.map(listen));
  return {
    addresses,
    get isCut() {
      return isCut;
    },
    cutAt(next) {
      messages = 0;
      point = next;
    },
    async close() {
      if (!isCut) cut();
    },
  };
}
