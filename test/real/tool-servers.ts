import path from 'node:path';
import type { Child } from '#dev/stack/child.ts';
import { findChromium } from '#test/ui/support/chromium.ts';
import { installOnce, type Run } from './install.ts';
import type { Servers } from './servers.ts';

/** The version of each server in its registry. */
interface Versions {
  readonly everything: string;
  readonly filesystem: string;
  readonly memory: string;
  readonly playwright: string;
  readonly time: string;
  readonly git: string;
}

/** Two releases of each server, with different definitions of the called tools. */
const RELEASES = {
  before: {
    everything: '2025.12.18',
    filesystem: '2025.7.29',
    memory: '2025.4.25',
    playwright: '0.0.70',
    time: '2025.9.25',
    git: '2025.1.14',
  },
  now: {
    everything: '2026.8.31',
    filesystem: '2026.8.31',
    memory: '2026.8.31',
    playwright: '0.0.83',
    time: '2026.10.19',
    git: '2026.10.19',
  },
} satisfies Record<string, Versions>;

/** Version of the bridge, which serves a stdio server over Streamable HTTP. */
const BRIDGE = '0.13.0';

export type Release = keyof typeof RELEASES;
export type ServerName = keyof Versions;

export interface ToolServers {
  /** Starts a server on this port. Both releases have the same MCP endpoint. */
  start(name: ServerName, release: Release, port: number): Promise<Child>;
}

/** Installs the six servers and the bridge, once on each machine. */
export async function installToolServers(servers: Servers): Promise<ToolServers> {
  const [before, now, bridge] = [
    await installRelease('before'),
    await installRelease('now'),
    await installOnce(`mcp-proxy-${BRIDGE}`, (run) => pip(run, 'bridge', `mcp-proxy==${BRIDGE}`)),
  ];
  const { executablePath, env } = await findChromium();
  const { folder } = servers;

  return {
    async start(name, release, port) {
      const installed = release === 'before' ? before : now;
      const script = (file: string) => path.join(installed, 'node_modules', file);
      const node = (file: string, ...args: string[]) => [process.execPath, script(file), ...args];
      const python = (program: string) => [path.join(installed, name, 'bin', program)];
      const listening = { name: `${name}-${release}`, port };
      const bridged = (command: readonly string[], variables: Record<string, string> = {}) => {
        const handed = Object.entries(variables).flatMap(([key, value]) => ['-e', key, value]);
        const own = ['--host', '127.0.0.1', '--port', String(port), ...handed];
        const program = path.join(bridge, 'bridge', 'bin', 'mcp-proxy');
        return servers.start({ ...listening, command: program, args: [...own, '--', ...command] });
      };
      switch (name) {
        case 'everything': {
          const file = '@modelcontextprotocol/server-everything/dist/index.js';
          return servers.start({
            ...listening,
            command: process.execPath,
            args: [script(file), 'streamableHttp'],
            env: { PORT: String(port) },
          });
        }
        case 'playwright':
          return servers.start({
            ...listening,
            command: process.execPath,
            args: [
              script('@playwright/mcp/cli.js'),
              '--host=127.0.0.1',
              `--port=${port}`,
              '--headless',
              '--isolated',
              '--no-sandbox',
              `--executable-path=${executablePath}`,
            ],
            env,
          });
        case 'filesystem':
          return bridged(node('@modelcontextprotocol/server-filesystem/dist/index.js', folder));
        case 'memory':
          return bridged(node('@modelcontextprotocol/server-memory/dist/index.js'), {
            MEMORY_FILE_PATH: path.join(folder, 'memory.jsonl'),
          });
        case 'time':
          return bridged(python('mcp-server-time'));
        case 'git':
          return bridged(python('mcp-server-git'));
      }
    },
  };
}

function installRelease(release: Release): Promise<string> {
  const { everything, filesystem, memory, playwright, time, git } = RELEASES[release];
  const name = `tool-servers-${Object.values(RELEASES[release]).join('-')}`;
  return installOnce(name, async (run) => {
    await run(
      'npm',
      'install',
      '--prefix=.',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      `@modelcontextprotocol/server-everything@${everything}`,
      `@modelcontextprotocol/server-filesystem@${filesystem}`,
      `@modelcontextprotocol/server-memory@${memory}`,
      `@playwright/mcp@${playwright}`,
    );
    // Each server has a separate environment, because the servers need different versions of the same libraries. An
    // earlier release accepts any version of its library, but works with the earlier versions only.
    const library = release === 'before' ? ['mcp<2'] : [];
    await pip(run, 'time', `mcp-server-time==${time}`, ...library);
    await pip(run, 'git', `mcp-server-git==${git}`, ...library);
  });
}

async function pip(run: Run, folder: string, ...requirements: string[]): Promise<void> {
  await run('python3', '-m', 'venv', folder);
  await run(path.join(folder, 'bin', 'pip'), 'install', '--quiet', '--no-compile', ...requirements);
}
