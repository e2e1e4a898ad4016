import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAtOnce } from '#lib/listen.ts';

export interface Receipts {
  count: number;
  /** Different bodies under one id. More than one is a fault. */
  readonly bodies: Set<string>;
}

export interface Receiver {
  readonly url: string;
  /** Receipts by `webhook-id`. */
  readonly receipts: ReadonlyMap<string, Receipts>;
  close(): Promise<void>;
}

/** Accepts every webhook after a short pause, so that some requests are open when their sender dies. */
export async function startReceiver(latencyMs: () => number): Promise<Receiver> {
  const receipts = new Map<string, Receipts>();
  const server = createServer((request, response) => {
    const take = async () => {
      const body = await text(request);
      const id = String(request.headers['webhook-id']);
      const known = receipts.get(id) ?? { count: 0, bodies: new Set<string>() };
      known.count += 1;
      known.bodies.add(body);
      receipts.set(id, known);
      await sleep(latencyMs());
      response.writeHead(204).end();
    };
    // A sender that dies during its request has delivered nothing.
    take().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    receipts,
    close: () => closeAtOnce(server),
  };
}
