import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { isUnavailable, openDatabase, transaction, type Database } from '#lib/database/index.ts';

let line: Awaited<ReturnType<typeof startLine>>;
let database: Database;

beforeAll(async () => {
  line = await startLine(new URL(inject('postgresAdminUrl')));
  database = openDatabase({
    url: line.url,
    poolSize: 1,
    applicationName: 'test',
    queryTimeoutMs: 500,
  });
});
afterAll(async () => {
  line.speak();
  await database.end();
  await line.close();
});

test('a Postgres that falls silent is unavailable, not waited for, and is used again when it responds', async () => {
  expect(await one()).toEqual({ one: 1 });
  line.fallSilent();
  await expect(one()).rejects.toSatisfy(isUnavailable);
  line.speak();
  expect(await one()).toEqual({ one: 1 });
});

test('a transaction closes a connection that falls silent, and ends', async () => {
  const work = transaction(database, async (tx) => {
    await tx.row`select 1`;
    line.fallSilent();
    return tx.row`select 1`;
  });
  await expect(work).rejects.toSatisfy(isUnavailable);
  line.speak();
  expect(await one()).toEqual({ one: 1 });
});

function one(): Promise<object | undefined> {
  return database.row`select 1 as one`;
}

/** Starts a proxy before Postgres that can go silent, like a firewall that drops packets. */
async function startLine(target: URL) {
  let silent = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => {
        if (!silent) to.write(data);
      });
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    fallSilent: () => {
      silent = true;
    },
    speak: () => {
      silent = false;
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
