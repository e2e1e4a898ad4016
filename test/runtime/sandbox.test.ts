import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { getPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { statFields } from '#dev/stack/processes.ts';
import { readProviderFile } from '#lib/provider-file/index.ts';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { checkPlaces, checkSandbox } from '#runtime/sandbox/check-sandbox.ts';
import { createSandbox, type Sandbox } from '#runtime/sandbox/sandbox.ts';
import { HAS_BUBBLEWRAP, WHY_SKIPPED } from './bubblewrap.ts';
import { createRig, runOn } from './rig.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

function inside(file: string) {
  return path.join(import.meta.dirname, 'inside', file);
}

describe.skipIf(!HAS_BUBBLEWRAP)(`within bubblewrap${WHY_SKIPPED}`, () => {
  let sandbox: Sandbox;

  beforeAll(() => {
    sandbox = createSandbox('bubblewrap');
    return () => sandbox.close();
  });

  async function run(
    script: string,
    input = '',
    programs: readonly string[] = [],
  ): Promise<{ output: string; code: number | null }> {
    const own = createSandbox('bubblewrap', programs);
    onTestFinished(() => own.close());
    const socketPath = own.socketPath();
    const broker = await startBroker(socketPath);
    onTestFinished(() => broker.close());
    const child = own.launch(inside(script), socketPath);
    onTestFinished(() => child.kill());
    child.stdin.end(input);
    child.stderr.resume();
    const output = await text(child.stdout);
    return { output, code: await child.exited };
  }

  test('the probe at the start finds every wall', async () => {
    await expect(checkSandbox(sandbox)).resolves.toBeUndefined();
  });

  test('more than forty attempts to get out all fail', async () => {
    // The probes could reach this server if the sandbox shared the loopback interface.
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    const { output } = await run('probes.ts');
    const { tried, got } = JSON.parse(output) as { tried: number; got: string[] };
    expect(tried).toBeGreaterThanOrEqual(40);
    expect(got).toEqual([]);
  });

  test.runIf(FULL_SIZE)('the same attempts do succeed outside, where they can', async () => {
    const server = createTcpServer((socket) => socket.end()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { stdout } = spawnSync(process.execPath, [inside('probes.ts'), '/nowhere.sock'], {
      env: { PORT: String(port) },
      encoding: 'utf8',
      // If the test runs as root, the probes run as another user, so that they can do no harm.
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
      timeout: 60_000,
    });
    const { got } = JSON.parse(stdout) as { got: string[] };
    for (const name of [
      'connect to a loopback server',
      'listen on a port',
      'read /etc/passwd',
      'list /proc',
      'find a secret in its environment',
      'start a program',
      'start a shell',
    ]) {
      expect(got).toContain(name);
    }
  });

  test.skipIf(process.arch !== 'x64' || !existsSync('/usr/bin/perl'))(
    'a session that became another program may not make the calls that matter',
    async () => {
      const { output } = await run('perl.ts', readFileSync(inside('calls.pl'), 'utf8'), ['/usr/bin/perl']);
      const { tried, got, unix, private: isPrivate } = JSON.parse(output) as Record<string, unknown>;
      expect(tried).toBeGreaterThanOrEqual(25);
      expect(got).toEqual([]);
      // Without this check the filter might refuse everything.
      expect([unix, isPrivate]).toEqual([true, true]);
    },
  );

  test('a session has the limits of its command, and leaves no core file', async () => {
    const { output } = await run('limits.ts');
    const limits = JSON.parse(output) as Record<string, { hard: number | string }>;
    expect(limits).toMatchObject({
      core_file_size_blocks: { hard: 0 },
      open_files: { hard: 256 },
      cpu_time_seconds: { hard: 60 },
      file_size_blocks: { hard: 16 * 1024 * 1024 },
    });
  });

  test('a fork bomb does not get to its first fork', async () => {
    const { output, code } = await run('fork-bomb.ts', '', ['/usr/bin/sh']);
    expect(output).toContain('began');
    expect(output).not.toContain('forked');
    expect(code).not.toBe(0);
  });

  test('ten gigabytes are written as sixteen megabytes', async () => {
    const { output } = await run('disk-hog.ts');
    expect(Number(output)).toBeGreaterThan(8);
    expect(Number(output)).toBeLessThanOrEqual(16);
  });

  test('memory outside of the heap ends below its limit', async () => {
    const { output, code } = await run('memory-hog.ts');
    const megabytes = Number(output.trim().split('\n').at(-1));
    expect(megabytes).toBeGreaterThan(64);
    expect(megabytes).toBeLessThanOrEqual(768);
    expect(code).not.toBe(0);
  });

  test('a session that computes without end is stopped in between, and no other is', async () => {
    const start = async (name: string) => {
      const socketPath = sandbox.socketPath();
      const broker = await startBroker(socketPath);
      onTestFinished(() => broker.close());
      const child = sandbox.launch(inside('busy.ts'), socketPath, [name]);
      onTestFinished(() => child.kill());
      await expect.poll(() => processOf(name)).toBeDefined();
      return { child, pid: processOf(name)! };
    };
    const busy = await start(`busy-${process.pid}`);
    const idle = await start(`idle-${process.pid}`);
    for (const state of ['stopped', 'running']) {
      await expect.poll(() => stateOf(busy.pid), { interval: 10 }).toBe(state);
      expect(stateOf(idle.pid)).toBe('running');
    }
    // While the others are busy, this process gets less than its share, and is not stopped again.
    const before = processorSeconds(busy.pid);
    await sleep(3_000);
    expect(processorSeconds(busy.pid) - before).toBeLessThan(1);
    expect(prioritiesOf(busy.pid)).toEqual({ threads: [LOWEST], group: LOWEST });
    expect(prioritiesOf(idle.pid).threads).toEqual([getPriority()]);
    busy.child.kill();
    expect(await busy.child.exited).toBeNull();
  });

  test('sessions that misbehave leave room for one that does not', async () => {
    const rig = await createRig();
    onTestFinished(() => rig.close());
    const runtime = await rig.start();
    const client = rig.client(runtime.port);
    const hogs = [run('memory-hog.ts'), run('disk-hog.ts'), run('fork-bomb.ts')];
    const result = await client.run(runOn(rig, runtime.instanceId));
    expect(result.finishReason).toBe('stop');
    await Promise.all(hogs);
  });
});

const LOWEST = 19;

/** Finds the process that runs a script in a sandbox, by the last of its arguments. */
function processOf(argument: string): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => {
      const words = pid > 0 ? (read(`/proc/${pid}/cmdline`) ?? '').split('\0') : [];
      return words[0] === '/node' && words.includes(argument);
    });
}

/** Returns by proc_pid_stat(5) whether a signal has stopped a process. */
function stateOf(pid: number): 'stopped' | 'running' | undefined {
  const fields = statFields(pid);
  if (fields === undefined) return undefined;
  return fields[0] === 'T' ? 'stopped' : 'running';
}

/** Returns the processor time of a process, by proc_pid_stat(5). */
function processorSeconds(pid: number): number {
  const [user, system] = statFields(pid)!.slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** Returns the different priorities of a process's threads, and that of its group if the kernel has such groups. */
function prioritiesOf(pid: number): { threads: number[]; group: number } {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
  const group = /nice (-?\d+)/.exec(read(`/proc/${pid}/autogroup`) ?? '')?.[1];
  return { threads: [...new Set(threads)], group: Number(group ?? threads[0]) };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended, or the kernel has no such file.
    return undefined;
  }
}

describe('a broker', () => {
  test.each([
    ['GET', '/messages'],
    ['POST', '/messages?x=1'],
    ['POST', '/messages/'],
    ['POST', '//messages'],
    ['POST', '/v1/messages'],
    ['POST', 'http://elsewhere.example/messages'],
  ])('refuses %s %s, and passes the one request of the file once', async (method, target) => {
    const rig = await createRig();
    onTestFinished(() => rig.close());
    const sandbox = createSandbox('process');
    onTestFinished(() => sandbox.close());
    const socketPath = sandbox.socketPath();
    const broker = await startBroker(socketPath);
    onTestFinished(() => broker.close());
    const provider = readProviderFile('provider-c', readFileSync(path.join(rig.folder, 'provider-c.yaml')), {
      termsAccepted: false,
    });
    const seen: { url: string; headers: Record<string, string> }[] = [];
    broker.assign({
      provider,
      allowed: [{ method: 'POST', path: '/messages' }],
      credential: { value: 'the-key', account: null },
      signal: new AbortController().signal,
      fetch: async (url, init) => {
        seen.push({
          url: url instanceof Request ? url.url : url.toString(),
          headers: init?.headers as Record<string, string>,
        });
        return new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    const send = (verb: string, to: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(
          {
            socketPath,
            method: verb,
            path: to,
            headers: { 'x-api-key': 'stolen', cookie: 'a=b', 'user-agent': 'SomebodyElse' },
          },
          (response) => {
            response.resume();
            resolve(response.statusCode);
          },
        );
        outgoing.once('error', reject);
        outgoing.end(verb === 'GET' ? undefined : '{}');
      });
    expect(await send(method, target)).toBe(403);
    expect(seen).toEqual([]);
    expect(await send('POST', '/messages')).toBe(200);
    expect(seen).toEqual([
      {
        url: `${provider.file.api.baseUrl}/messages`,
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
          'x-api-key': 'the-key',
        },
      },
    ]);
    expect(await send('POST', '/messages')).toBe(403);
  });
});

test('a service whose keys lie where sessions can read them does not start, and says which', async () => {
  expect(() => checkPlaces(['/etc/ras/key.pem', '/var/lib/ras'])).not.toThrow();
  expect(() => checkPlaces(['/etc/ras/key.pem', '/usr/lib/ras/key.pem'])).toThrow(
    'could read what lies here: /usr/lib/ras/key.pem.',
  );
  const rig = await createRig();
  onTestFinished(() => rig.close());
  const among = path.join(import.meta.dirname, '../../node_modules/.state');
  const env = { MODEL_RUNTIME_SANDBOX: 'bubblewrap', MODEL_RUNTIME_STATE_DIR: among };
  await expect(rig.start(env)).rejects.toThrow(`could read what lies here: ${among}.`);
  expect(existsSync(among)).toBe(false);
});

test('without a sandbox, outside production, steps run all the same, and hello says so', async () => {
  const rig = await createRig({ env: { MODEL_RUNTIME_SANDBOX: 'process' } });
  onTestFinished(() => rig.close());
  const runtime = await rig.spawn();
  expect(runtime.output()).toContain('MODEL_RUNTIME_SANDBOX=process');
  const client = rig.client(runtime.port);
  const { instanceId, sandbox } = await client.hello();
  expect(sandbox).toBe('process');
  expect((await client.run(runOn(rig, instanceId))).finishReason).toBe('stop');
  const strict = rig.client(runtime.port, { requireIsolation: true });
  await expect(strict.hello()).rejects.toMatchObject({ reason: 'not_isolated' });
});

test('a runtime that cannot make a sandbox does not start, and says how to mend it', async () => {
  const rig = await createRig();
  onTestFinished(() => rig.close());
  const sandbox: Sandbox = {
    kind: 'bubblewrap',
    socketPath: () => path.join(rig.folder, 'b.sock'),
    // Sessions run with Node's own permissions instead of the sandbox: these block files, but not the network.
    launch: (script, socketPath) => createSandbox('process').launch(script, socketPath),
    close: () => undefined,
  };
  await expect(checkSandbox(sandbox)).rejects.toThrow(/has holes: expected .*apt-get install/s);
  const broken: Sandbox = {
    ...sandbox,
    launch: (_script, socketPath) => sandbox.launch('no/such/script.ts', socketPath),
  };
  await expect(checkSandbox(broken)).rejects.toThrow(/cannot be kept apart.*apt-get install/s);
});
