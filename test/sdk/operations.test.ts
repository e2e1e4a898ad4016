import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { expect, test } from 'vitest';
import { OPERATIONS, OPERATIONS_FILE, renderOperations, renderSdkTypes, TYPES_FILE } from '../../sdk/generate/main.ts';
import { Ras } from '../../sdk/src/index.ts';

const SOURCES = path.join(import.meta.dirname, '../../sdk/src');
const MAX_GZIPPED_BYTES = 12_000;

test('types and operations of the SDK are those of this API; npm run ui:types updates them', async () => {
  expect(await readFile(OPERATIONS_FILE, 'utf8')).toBe(renderOperations());
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await renderSdkTypes());
});

test('each operation that an API key may call has one method, and each method its operation', async () => {
  const called = await callEverything();
  const made = called.map(({ requests }) => requests[0]);
  const ids = ['a', 'b', 'c'];
  const wanted = OPERATIONS.map(({ spec }) => {
    let next = 0;
    return `${spec.method} ${spec.path.replaceAll(/:\w+/g, () => ids[next++] ?? '')}`;
  });
  expect(Object.groupBy(made, String)).toEqual(Object.groupBy([...wanted, 'GET /v1/runs/a/events'], String));
  const follower = called.find(({ name }) => name === 'runs.wait');
  expect(follower?.requests).toEqual(['GET /v1/runs/a/events', 'GET /v1/runs/a']);
});

test('a program that bundles the whole of it, with what it depends on, grows by at most 12 kB', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      // A library in the form of modules would keep its white space.
      lib: { entry: path.join(SOURCES, 'index.ts'), formats: ['iife'], name: 'ras' },
    },
  });
  const [bundle] = [built].flat();
  if (bundle === undefined || !('output' in bundle)) throw new Error('nothing was built');
  const [chunk, ...others] = bundle.output;
  expect(others).toEqual([]);
  expect(chunk.code).toContain('webhook-signature');
  expect(chunk.imports).toEqual([]);
  expect(gzipSync(chunk.code).length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
});

/** Calls every method of every resource with ids, and lists the requests of each. */
async function callEverything() {
  let requests: string[] = [];
  const ras = new Ras({
    apiKey: 'ras_1',
    baseUrl: 'http://service.test',
    fetch: (url, init) => {
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      requests.push(`${init?.method} ${pathname}`);
      if (pathname.endsWith('/events')) return Promise.resolve(new Response(null, { status: 204 }));
      return Promise.resolve(Response.json({ data: [], requestId: 'req-1' }));
    },
  });
  const called: { name: string; requests: string[] }[] = [];
  for (const resource of Object.keys(ras)) {
    const methods: object = Reflect.get(ras, resource);
    const prototype: object = Object.getPrototypeOf(methods);
    // The webhooks make no request.
    if (prototype === Object.prototype) continue;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (name === 'constructor') continue;
      requests = [];
      const result: unknown = (methods as Record<string, (...ids: string[]) => unknown>)[name]?.('a', 'b', 'c');
      await settled(result);
      called.push({ name: `${resource}.${name}`, requests });
    }
  }
  return called;
}

/** Waits for a call, for the first page of a list, or for the first event of a stream. */
async function settled(result: unknown): Promise<void> {
  const asked = result as { page?: () => unknown; next?: () => unknown };
  await (asked.page?.() ?? asked.next?.() ?? result);
}
