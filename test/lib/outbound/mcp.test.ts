import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { outboundErrorIn, type OutboundClient } from '#lib/outbound/index.ts';
import { guardedClient, localClient, startReceiver } from './receiver.ts';
import { PATIENCE_MS } from '#test/support/properties.ts';

test('the MCP client talks to a real tool server through the guarded fetch, progress events included', async () => {
  const url = `http://127.0.0.1:${await startEverythingServer()}/mcp`;
  const client = await connect(url, localClient());
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('echo');
  const echo = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  expect(echo.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
  const progress: number[] = [];
  await client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
    { onprogress: (step) => progress.push(step.progress) },
  );
  expect(progress).toEqual([1, 2, 3]);
});

test('an error of the guarded fetch is recognized behind the error that the MCP client makes of it', async () => {
  const hidden = guardedClient({ lookup: async () => ['10.0.0.1'] });
  for (const [url, outbound, fault] of [
    ['http://127.0.0.1:1024/mcp', localClient(), 'connect_failed'],
    ['https://tools.example.com/mcp', hidden, 'blocked_address'],
  ] as const) {
    const error = await connect(url, outbound).catch((error: unknown) => error);
    expect(outboundErrorIn(error)).toMatchObject({ code: fault, mayHaveArrived: false });
  }

  const outbound = localClient();
  const client = await connect(`http://127.0.0.1:${await startEverythingServer()}/mcp`, outbound);
  await outbound.close();
  const error = await client.callTool({ name: 'echo' }).catch((error: unknown) => error);
  expect(outboundErrorIn(error)).toMatchObject({ code: 'aborted' });
});

test('the MCP client is not led by a redirect to another origin', async () => {
  const away = await startReceiver((_, response) => response.end());
  for (const location of ['http://169.254.169.254/mcp', `${away.origin}/mcp`]) {
    const receiver = await startReceiver((_, response) => response.writeHead(307, { location }).end());
    await expect(connect(`${receiver.origin}/mcp`, localClient())).rejects.toThrow();
    expect(receiver.received.length).toBeGreaterThan(0);
  }
  expect(away.connections()).toBe(0);
});

async function connect(url: string, outbound: OutboundClient): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: outbound.fetch,
    requestInit: { headers: { authorization: 'Bearer canary' } },
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

/** Starts the reference tool server as a process that ends with the test; returns its port. */
async function startEverythingServer(): Promise<number> {
  const port = await freePort();
  const entry = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: PATIENCE_MS, interval: 100 });
  return port;
}
