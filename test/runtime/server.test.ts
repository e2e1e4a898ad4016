import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { envelopeKeys, MAX_ENVELOPE_BYTES, sealRequest } from '#lib/envelope/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { issueCertificates } from '#runtime/certificates/issue.ts';
import type { Runtime } from '#runtime/start.ts';
import { startTcpProxy } from './tcp-cut.ts';
import { proves } from '#test/support/proves.ts';
import { createRig, runOn, type Rig } from './rig.ts';

let rig: Rig;
let runtime: Runtime;
let metricsPort: number;

beforeAll(async () => {
  rig = await createRig();
  metricsPort = await freePort();
  runtime = await rig.start({ METRICS_PORT: String(metricsPort) });
  return () => rig.close();
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function send(
  method: string,
  path: string,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      {
        host: '127.0.0.1',
        port: runtime.port,
        method,
        path,
        headers,
        ca: rig.ca,
        agent: new Agent({ keepAlive: false }),
      },
      (response) => {
        text(response).then(
          (said) => resolve({ status: response.statusCode, headers: response.headers, body: said }),
          reject,
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

async function handshake(options: ConnectionOptions): Promise<TLSSocket | Error> {
  const socket = connect({ host: '127.0.0.1', port: runtime.port, ca: rig.ca, ...options });
  onTestFinished(() => void socket.destroy());
  return Promise.race([
    once(socket, 'secureConnect').then(() => socket),
    once(socket, 'error').then(([error]) => error as Error),
  ]).catch((error: unknown) => error as Error);
}

describe('the door', () => {
  test('is TLS 1.3 and HTTP/1.1 only', proves('limit.runtime'), async () => {
    const socket = await handshake({ ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket).toMatchObject({ alpnProtocol: 'http/1.1' });
    expect((socket as TLSSocket).getProtocol()).toBe('TLSv1.3');
    expect(await handshake({ ALPNProtocols: ['h2'] })).toMatchObject({
      code: expect.stringMatching(/ALPN|ALERT/),
    });
    expect(await handshake({ maxVersion: 'TLSv1.2' })).toBeInstanceOf(Error);
    const http2 = connectHttp2(`https://127.0.0.1:${runtime.port}`, { ca: rig.ca });
    onTestFinished(() => http2.destroy());
    const [error] = (await once(http2, 'error')) as [Error];
    expect(error).toBeInstanceOf(Error);
  });

  test('has a health that says nothing', async () => {
    const { status, body, headers } = await send('GET', '/health');
    expect([status, body]).toEqual([204, '']);
    expect(Object.keys(headers).toSorted()).toEqual(['connection', 'date']);
  });

  test('knows no other address', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/v1/envelopes'],
      ['POST', '/v1/envelopes/'],
      ['POST', '/v1/models'],
      ['GET', '/metrics'],
      ['POST', '/health'],
    ] as const) {
      expect([method, path, (await send(method, path)).status]).toEqual([method, path, 404]);
    }
  });

  test('responds with one and the same 400 to every envelope that does not open', async () => {
    const keys = envelopeKeys(rig.secret);
    const claims = {
      issuer: 'test',
      audience: runtime.instanceId,
      requestId: 'r',
      epoch: 1,
      purpose: 'verify' as const,
      provider: 'provider-c' as const,
      fileHash: rig.hash('provider-c'),
      projectId: 'prj_1',
      connectionId: 'mcn_1',
      credentialVersion: 1,
      runId: null,
      step: null,
      deadline: null,
    };
    const request = { claims, body: {}, credential: null };
    const { envelope } = await sealRequest(request, keys);
    const old = await sealRequest(request, keys, Date.now() - 300_000);
    const elsewhere = await sealRequest({ ...request, claims: { ...claims, audience: 'x' } }, keys);
    const stranger = await sealRequest(request, envelopeKeys(Buffer.alloc(32).toString('base64')));
    const answers = await Promise.all(
      [
        '',
        'hello',
        '{"purpose":"hello"}',
        `${envelope.slice(0, -16)}${'A'.repeat(16)}`,
        envelope.slice(0, 400),
        old.envelope,
        elsewhere.envelope,
        stranger.envelope,
        Buffer.alloc(100_000, 0xff),
      ].map((body) => send('POST', '/v1/envelopes', body)),
    );
    const seen = answers.map(({ status, headers, body }) => {
      const { date: _date, ...rest } = headers;
      return JSON.stringify([status, rest, body]);
    });
    expect(new Set(seen)).toEqual(new Set([JSON.stringify([400, { 'content-length': '0', connection: 'close' }, ''])]));
    expect(rig.providers.control.requests()).toEqual([]);
    expect((await send('POST', '/v1/envelopes', envelope)).status).toBe(200);
  });

  test('turns what is too large away before it is read, announced or not', async () => {
    const announced = { 'content-length': String(MAX_ENVELOPE_BYTES + 1) };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = httpsRequest(
        {
          host: '127.0.0.1',
          port: runtime.port,
          method: 'POST',
          path: '/v1/envelopes',
          headers: announced,
          ca: rig.ca,
        },
        (response) => {
          resolve(response.statusCode);
          outgoing.destroy();
        },
      );
      outgoing.once('error', reject);
      // Not one byte of the body is sent.
      outgoing.flushHeaders();
    });
    expect(status).toBe(413);
    const chunked = await send('POST', '/v1/envelopes', Buffer.alloc(MAX_ENVELOPE_BYTES + 10), {
      'transfer-encoding': 'chunked',
    }).catch((error: NodeJS.ErrnoException) => error);
    // The server does not read the rest, so the client sees the status or the end of the connection.
    expect([413, undefined]).toContain((chunked as Answer).status);
  });
});

test('more than 32 connections are not taken, and there is room again when one is gone', async () => {
  const open = await Promise.all(Array.from({ length: 40 }, () => handshake({})));
  const taken = open.flatMap((socket) => (socket instanceof Error ? [] : [socket]));
  expect(taken.length).toBeLessThanOrEqual(32);
  expect(taken.length).toBeGreaterThan(24);
  await expect(rig.client(runtime.port).hello()).rejects.toMatchObject({
    name: 'RuntimeUnreachable',
  });
  for (const socket of taken) socket.destroy();
  await expect
    .poll(() =>
      rig
        .client(runtime.port)
        .hello()
        .then(({ instanceId }) => instanceId, String),
    )
    .toBe(runtime.instanceId);
});

test('metrics are counted on a port of their own', async () => {
  const client = rig.client(runtime.port);
  await client.run(runOn(rig, runtime.instanceId));
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  expect(metrics).toMatch(
    /ras_runtime_call_duration_seconds_count\{purpose="run",provider="provider-c",outcome="ok"\} [1-9]/,
  );
  expect(metrics).toMatch(/ras_runtime_refused_total\{status="400"\} 9/);
  expect(metrics).toContain('ras_runtime_calls_under_way 0');
  expect(metrics).not.toContain('prj_1');
});

describe('a client', () => {
  test('accepts no other authority, and no certificate for another name', async () => {
    const { ca } = await issueCertificates(['127.0.0.1']);
    const strangers = rig.client(runtime.port, { ca });
    await expect(strangers.hello()).rejects.toMatchObject({ reason: 'no_connection' });
    const other = await issueCertificates(['runtime.example']);
    const wrongName = await createRig();
    onTestFinished(() => wrongName.close());
    writeFileSync(wrongName.env['MODEL_RUNTIME_CERT_FILE']!, other.cert);
    writeFileSync(wrongName.env['MODEL_RUNTIME_KEY_FILE']!, other.key);
    const second = await wrongName.start();
    const client = wrongName.client(second.port, { ca: other.ca });
    await expect(client.hello()).rejects.toMatchObject({ reason: 'no_connection' });
  });

  test('with another secret is rejected', async () => {
    const client = rig.client(runtime.port, { secret: Buffer.alloc(32, 9).toString('base64') });
    await expect(client.hello()).rejects.toMatchObject({ reason: 'rejected' });
  });

  test('finds its own response when the connection breaks in the middle', async () => {
    const line = await startTcpProxy(runtime.port);
    onTestFinished(() => line.stop());
    const client = rig.client(line.port);
    const before = rig.providers.control.requests().length;
    rig.providers.control.script({ kind: 'slow', pauseMs: 200 });
    const running = client.run(runOn(rig, runtime.instanceId));
    await expect.poll(() => rig.providers.control.requests().length).toBe(before + 1);
    line.cut();
    expect(await running).toMatchObject({ finishReason: 'stop' });
    expect(line.connections()).toBeGreaterThanOrEqual(2);
    expect(rig.providers.control.requests()).toHaveLength(before + 1);
  });

  // The tests run side by side, because both mostly wait.
  test.concurrent('gives a runtime up that says nothing', async ({ onTestFinished }) => {
    const line = await startTcpProxy(runtime.port);
    onTestFinished(() => line.stop());
    const client = rig.client(line.port, { silenceMs: 8_000 });
    // A busy machine may seem silent although the line is not.
    await expect.poll(() => client.hello().then(({ instanceId }) => instanceId, String)).toBe(runtime.instanceId);
    line.hold();
    await expect(client.hello()).rejects.toMatchObject({ reason: 'silent' });
  });

  test.concurrent('hears a runtime that works, for longer than its own patience', async () => {
    const client = rig.client(runtime.port, { silenceMs: 7_000 });
    rig.providers.control.script({ kind: 'slow', pauseMs: 1_200 });
    const call = runOn(rig, runtime.instanceId);
    const started = Date.now();
    expect(await client.run(call)).toMatchObject({ finishReason: 'stop' });
    expect(Date.now() - started).toBeGreaterThan(7_000);
  });

  test('says when no server responds', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const call = { ...runOn(rig, runtime.instanceId), requestId: randomUUID() };
    await expect(rig.client(port).run(call)).rejects.toMatchObject({ reason: 'no_connection' });
  });

  test('does not send a request that is too large', async () => {
    const body = { ...runOn(rig, runtime.instanceId).body, instructions: 'x'.repeat(5_000_000) };
    const call = runOn(rig, runtime.instanceId, { body });
    await expect(rig.client(runtime.port).run(call)).rejects.toMatchObject({ code: 'too_large' });
  });
});
