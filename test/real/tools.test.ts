import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import {
  confirm,
  connect,
  marker,
  requestsWith,
  scriptCalls,
  toolSteps,
  type Json,
} from '#test/core/integrations/tools/support.ts';
import { requireCommands } from './install.ts';
import { openServers, type Servers } from './servers.ts';
import { installToolServers, type ServerName, type ToolServers } from './tool-servers.ts';

let servers: Servers;
let toolServers: ToolServers;
let page: Server;
let pageUrl: string;
let service: Service;
let key: ApiClient;

beforeAll(async () => {
  await requireCommands('npm', 'python3', 'git');
  servers = await openServers();
  toolServers = await installToolServers(servers);
  writeFileSync(path.join(servers.folder, 'note.txt'), 'The figure of today is 42.');
  const repository = path.join(servers.folder, 'repository');
  mkdirSync(repository);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: repository,
    });
  git('init', '--quiet');
  git('commit', '--quiet', '--allow-empty', '--message', 'Found the figure');
  page = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>Figures</title><h1>The figure is 42</h1>');
  });
  pageUrl = `http://127.0.0.1:${await listenOn(page, { host: '127.0.0.1', port: 0 })}/`;
  service = await startService({ worker: true });
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await service?.close();
  if (page !== undefined) await closeAtOnce(page);
  await servers?.close();
});

interface Use {
  readonly server: ServerName;
  /** The name that the server says it has. */
  readonly called: RegExp;
  /** Calls of one run. The two releases define the tool of the last call differently. */
  readonly calls: () => { name: string; arguments: Json }[];
  /** The answer to the last call. */
  readonly result: RegExp;
}

const USES: readonly Use[] = [
  {
    server: 'everything',
    called: /everything/,
    calls: () => [{ name: 'echo', arguments: { message: 'The figure is 42' } }],
    result: /The figure is 42/,
  },
  {
    server: 'filesystem',
    called: /filesystem/,
    calls: () => [{ name: 'read_text_file', arguments: { path: path.join(servers.folder, 'note.txt') } }],
    result: /The figure of today is 42/,
  },
  {
    server: 'memory',
    called: /memory/,
    calls: () => {
      // The tool returns new entities only.
      const entity = { name: `Figure ${marker()}`, entityType: 'number', observations: ['is 42'] };
      return [{ name: 'create_entities', arguments: { entities: [entity] } }];
    },
    result: /Figure/,
  },
  {
    server: 'time',
    called: /time/,
    calls: () => [{ name: 'get_current_time', arguments: { timezone: 'Asia/Tokyo' } }],
    result: /\+09:00/,
  },
  {
    server: 'git',
    called: /git/,
    calls: () => [{ name: 'git_log', arguments: { repo_path: path.join(servers.folder, 'repository') } }],
    result: /Found the figure/,
  },
  {
    server: 'playwright',
    called: /Playwright/,
    calls: () => [
      { name: 'browser_navigate', arguments: { url: pageUrl } },
      { name: 'browser_snapshot', arguments: {} },
    ],
    result: /The figure is 42/,
  },
];

test.each(USES)(
  'the $server server is connected, confirmed and called, and its next release is not called before it is confirmed',
  async ({ server, called, calls, result }) => {
    const port = await freePort();
    const before = await toolServers.start(server, 'before', port);
    const connectionId = await connect(key, { url: `http://localhost:${port}/mcp` });
    const mark = marker();
    const routineId = await createRoutine(key, { instructions: mark });
    const names = calls().map(({ name }) => name);

    const discover = async () => {
      const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
      const { status, data, body } = await key.post(path);
      expect([status, body.error]).toEqual([200, undefined]);
      expect(data).toMatchObject({ skipped: 0, truncated: false });
      return data;
    };
    const run = async () => {
      scriptCalls(service, mark, ...calls());
      const ended = await runOnce(key, routineId);
      expect(ended.state).toBe('succeeded');
      return toolSteps(ended).at(-1);
    };
    const policy = async () => {
      const { data } = await key.get(`/v1/routines/${routineId}/tools?limit=100`);
      return data.find(({ name }: Json) => name === names.at(-1));
    };

    const first = await discover();
    await confirm(key, { routineId, connectionId, tools: first.tools }, names);
    expect(await run()).toMatchObject({
      state: 'succeeded',
      tool: { result: expect.stringMatching(result) },
    });
    const told = requestsWith(service, mark).at(-1).body.messages.at(-1);
    expect(told).toMatchObject({ role: 'tool', content: expect.stringMatching(result) });

    await before.stop();
    const now = await toolServers.start(server, 'now', port);
    expect(await run()).toMatchObject({
      state: 'failed',
      errorMessage: expect.stringContaining('has changed this tool'),
    });
    expect(await policy()).toMatchObject({ state: 'disabled' });
    expect((await key.get(`/v1/routines/${routineId}`)).data.state).toBe('draft');

    const second = await discover();
    await confirm(key, { routineId, connectionId, tools: second.tools }, names);
    expect(await run()).toMatchObject({
      state: 'succeeded',
      tool: { result: expect.stringMatching(result) },
    });
    const { data: connections } = await key.get('/v1/connections');
    const { server: claims } = connections.find(({ id }: Json) => id === connectionId);
    expect(claims.name).toMatch(called);
    await now.stop();
  },
);
