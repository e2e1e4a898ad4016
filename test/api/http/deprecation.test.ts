import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Deps } from '#api/deps.ts';
import { operation } from '#api/docs/operation.ts';
import { serve } from '#api/http/serve.ts';
import { routesOf } from '#api/route.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { createServer } from 'node:http';

test('a deprecated operation says so by its headers and in the document, with the day of its end', async () => {
  const old = routesOf('Operations')('GET /v1/old', {
    id: 'old',
    summary: 'Do it the old way',
    auth: 'none',
    deprecated: { since: '2027-01-31', sunset: '2028-01-31' },
    success: { data: z.strictObject({}).meta({ id: 'Old' }), description: 'Done.' },
  }).to(async () => ({ data: {} }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an operation without a caller asks for nothing else
  const deps = {
    config: { PUBLIC_URL: 'https://api.example.com' },
    clientAddress: () => '127.0.0.1',
  } as unknown as Deps;
  const app = new Koa().use(serve(old, deps));
  const server = createServer((request, response) => void app.callback()(request, response));
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => closeAtOnce(server));
  const { status, headers } = await fetch(`http://127.0.0.1:${port}/v1/old`);
  expect(status).toBe(200);
  expect(headers.get('deprecation')).toBe(`@${Date.UTC(2027, 0, 31) / 1_000}`);
  expect(headers.get('sunset')).toBe('Mon, 31 Jan 2028 00:00:00 GMT');
  expect(headers.get('link')).toContain('<https://api.example.com/docs/api-stability.md>; rel="deprecation"');
  expect(operation(old.spec, 'keys')).toMatchObject({ deprecated: true });
});
