import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { closeAtOnce, listenOn } from '#lib/listen.ts';

/** Writes a file of model sources, as an operator does. */
export async function gatewaysFile(sources: readonly object[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'model-sources-'));
  const file = path.join(folder, 'gateways.yaml');
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify({ sources }));
  return file;
}

/** Starts a server that gives the same answer to every request, until the test ends; returns its origin. */
export async function startAnswering(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, headers).end(body);
  });
  const port = await listenOn(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => closeAtOnce(server));
  return `http://127.0.0.1:${port}`;
}
