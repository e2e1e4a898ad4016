import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CLIENTS } from '../../cli/src/mcp/clients.ts';
import { terminal } from './terminal.ts';

const KEY = `ras_abcdefgh_${'s'.repeat(43)}`;
const ENV = { RAS_API_URL: 'https://api.example.com', RAS_API_KEY: KEY };
const URL = 'https://api.example.com/mcp';

/** Stands in for a service that registers clients. */
async function registering(address: unknown): Promise<Response> {
  expect(address).toBe('https://api.example.com/.well-known/oauth-authorization-server/auth');
  return Response.json({ registration_endpoint: 'https://api.example.com/auth/oauth2/register' });
}

/** The file of each client on Linux, as a path from the home folder, and its content after the command. */
const WRITTEN: Readonly<Record<string, readonly [string, unknown]>> = {
  'claude-code': [
    '.mcp.json',
    {
      mcpServers: {
        ras: { type: 'http', url: URL, headers: { Authorization: 'Bearer ${RAS_API_KEY}' } },
      },
    },
  ],
  'claude-desktop': [
    '.config/Claude/claude_desktop_config.json',
    { mcpServers: { ras: { command: 'npx', args: ['-y', 'mcp-remote@0.15.1', URL] } } },
  ],
  cursor: [
    '.cursor/mcp.json',
    { mcpServers: { ras: { url: URL, headers: { Authorization: 'Bearer ${env:RAS_API_KEY}' } } } },
  ],
  vscode: [
    '.vscode/mcp.json',
    {
      servers: {
        ras: { type: 'http', url: URL, headers: { Authorization: 'Bearer ${input:ras-api-key}' } },
      },
      inputs: [
        {
          type: 'promptString',
          id: 'ras-api-key',
          description: 'API key of the Routine Automation Service',
          password: true,
        },
      ],
    },
  ],
  codex: ['.codex/config.toml', `[mcp_servers.ras]\nurl = "${URL}"\nbearer_token_env_var = "RAS_API_KEY"\n`],
};

test('every client is told of the service, and no file of theirs is given the key', async () => {
  expect(Object.keys(WRITTEN)).toEqual(Object.keys(CLIENTS));
  const user = await terminal();
  for (const [client, [name, expected]] of Object.entries(WRITTEN)) {
    const install = ['mcp', 'install', '--client', client];
    const printed = await user.run([...install, '--print'], { env: ENV, fetch: registering });
    const file = path.join(user.home, name);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
    const { code, json, stderr } = await user.run(install, { env: ENV, fetch: registering });
    expect(code).toBe(0);
    expect(json).toEqual({ client, file, url: URL });
    const text = await readFile(file, 'utf8');
    expect(printed.stdout).toBe(text);
    expect(name.endsWith('.toml') ? text : JSON.parse(text)).toEqual(expected);
    expect(text + stderr).not.toContain(KEY.slice(13));
    const again = await user.run(install, { env: ENV, fetch: registering });
    expect(again.stderr).toContain('has it already');
    expect(await readFile(file, 'utf8')).toBe(text);
  }
});

test('a client that signs in by a browser gets a header where the service registers no clients', async () => {
  const user = await terminal();
  const install = ['mcp', 'install', '--client', 'claude-desktop'];
  const { code, stderr } = await user.run(install, { env: ENV, fetch: async () => Response.json({ issuer: 'x' }) });
  expect([code, stderr]).toEqual([0, expect.stringContaining('set RAS_AUTHORIZATION to "Bearer <API key>"')]);
  const text = await readFile(path.join(user.home, '.config/Claude/claude_desktop_config.json'), 'utf8');
  expect(JSON.parse(text).mcpServers.ras.args.slice(-2)).toEqual(['--header', 'Authorization:${RAS_AUTHORIZATION}']);
});

test('other servers of a client stay, in the indentation of their file', async () => {
  const user = await terminal();
  const file = path.join(user.home, '.mcp.json');
  const others = { mcpServers: { other: { command: 'other' }, ras: { url: 'old' } }, more: [1] };
  await writeFile(file, JSON.stringify(others, null, '\t'));
  await user.run(['mcp', 'install', '--client', 'claude-code'], { env: ENV });
  const text = await readFile(file, 'utf8');
  expect(text).toContain('\n\t"more"');
  expect(JSON.parse(text)).toMatchObject({
    mcpServers: { other: { command: 'other' }, ras: { url: URL } },
    more: [1],
  });
});

test('other tables of Codex stay, and ours is replaced', async () => {
  const user = await terminal();
  await mkdir(path.join(user.home, '.codex'));
  const file = path.join(user.home, '.codex/config.toml');
  const before =
    'model = "m"\n\n[mcp_servers.raster]\nurl = "r"\n\n[mcp_servers.ras]\nurl = "old"\n# mine\n\n[tools]\nweb = true\n';
  await writeFile(file, before);
  await user.run(['mcp', 'install', '--client', 'codex'], { env: ENV });
  expect(await readFile(file, 'utf8')).toBe(
    `model = "m"\n\n[mcp_servers.raster]\nurl = "r"\n\n[tools]\nweb = true\n\n${String(WRITTEN['codex']?.[1])}`,
  );
});

test('a file that cannot be understood is left as it is', async () => {
  const user = await terminal();
  for (const folder of ['.codex', '.vscode']) await mkdir(path.join(user.home, folder));
  const files = [
    ['claude-code', '.mcp.json', '{ // a comment\n}'],
    ['claude-code', '.mcp.json', '{"mcpServers": []}'],
    ['claude-code', '.mcp.json', '[]'],
    ['codex', '.codex/config.toml', 'mcp_servers = { ras = { url = "old" } }\n'],
    ['vscode', '.vscode/mcp.json', '{"inputs": {}}'],
    ['codex', '.codex/config.toml', '[mcp_servers]\nras = { url = "old" }\n'],
    ['codex', '.codex/config.toml', '[ mcp_servers . "ras" ]\nurl = "old"\n'],
    ['codex', '.codex/config.toml', 'mcp_servers.ras.url = "old"\n'],
    ['codex', '.codex/config.toml', 'text = """\n[mcp_servers.ras]\n"""\n'],
    ['codex', '.codex/config.toml', '[mcp_servers.ras]\nurl = "old"\n\n[mcp_servers.ras.env]\nA = "b"\n'],
  ] as const;
  for (const [client, name, text] of files) {
    const file = path.join(user.home, name);
    await writeFile(file, text);
    const { code, stderr } = await user.run(['mcp', 'install', '--client', client], { env: ENV });
    expect(code).toBe(1);
    expect(stderr).toContain(`ras mcp install --client ${client} --print`);
    expect(await readFile(file, 'utf8')).toBe(text);
  }
});

test('a client has to be named, and its address known', async () => {
  const user = await terminal();
  expect(await user.run(['mcp', 'install'], { env: ENV })).toMatchObject({ code: 2 });
  const unknown = await user.run(['mcp', 'install', '--client', 'emacs'], { env: ENV });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('claude-code') });
  const nowhere = await user.run(['mcp', 'install', '--client', 'codex', '--print']);
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--api-url') });
});

test('the blocks of docs/mcp.md are what is written', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');
  const blocks = [...page.matchAll(/```(?:json|toml)\n([^]*?)```/g)].map(([, text = '']) => text);
  const address = 'https://routines.example.com/mcp';
  const parsed = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text);
  const written = Object.values(CLIENTS).map((client) => parsed(client.add('', address, { registers: true })));
  expect(blocks.map(parsed)).toEqual(expect.arrayContaining(written));
  expect(blocks).toHaveLength(written.length);
});
