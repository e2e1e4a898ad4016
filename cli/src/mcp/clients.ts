import path from 'node:path';
import type { World } from '../world.ts';

/** The name of the service in the client's configuration, and of the variable with the API key. */
const SERVER = 'ras';
const KEY_VARIABLE = 'RAS_API_KEY';

/** The whole header is one value, because some platforms lose a space in an argument. */
const HEADER_VARIABLE = 'RAS_AUTHORIZATION';

/** A pinned version: npx would otherwise run the newest third-party code at each start, with access to the tokens. */
const MCP_REMOTE = 'mcp-remote@0.15.1';

export interface McpClient {
  /** Returns the path of the client's configuration. */
  file(world: Where): string;
  /**
   * Adds the service to the text of the configuration; the rest stays.
   * @throws {Error} for a text that cannot be read
   */
  add(text: string, url: string, options: { readonly registers: boolean }): string;
  /** Next steps for the user. */
  readonly next: string;
  /** Set for a client that signs in by a browser: advice for a service that registers no clients. */
  readonly withoutRegistration?: string;
}

/** Facts of the machine that decide the path of a file; `platform` as Node.js names it. */
export interface Where extends Pick<World, 'cwd' | 'env'> {
  readonly home: string;
  readonly platform: string;
}

const SET_KEY = `Set ${KEY_VARIABLE} where you start it, to an API key of the project.`;

/** The clients and their configuration. No configuration gets a key, because the file is often committed. */
export const CLIENTS: Readonly<Record<string, McpClient>> = {
  'claude-code': {
    file: ({ cwd }) => path.join(cwd, '.mcp.json'),
    add: (text, url) => inJson(text, 'mcpServers', { type: 'http', url, ...bearer('${RAS_API_KEY}') }),
    next: SET_KEY,
  },
  'claude-desktop': {
    file: (where) => path.join(configFolder(where), 'Claude', 'claude_desktop_config.json'),
    // This client accepts only programs. The program forwards to an address, and signs in by a browser or with a
    // header.
    add: (text, url, { registers }) => {
      const header = registers ? [] : ['--header', `Authorization:\${${HEADER_VARIABLE}}`];
      return inJson(text, 'mcpServers', { command: 'npx', args: ['-y', MCP_REMOTE, url, ...header] });
    },
    next: 'Restart it; it opens a browser for the sign-in.',
    withoutRegistration: `The service registers no clients, so it signs in with an API key: set ${HEADER_VARIABLE} to "Bearer <API key>" where it is started, then restart it.`,
  },
  cursor: {
    file: ({ cwd }) => path.join(cwd, '.cursor', 'mcp.json'),
    add: (text, url) => inJson(text, 'mcpServers', { url, ...bearer('${env:RAS_API_KEY}') }),
    next: SET_KEY,
  },
  vscode: {
    file: ({ cwd }) => path.join(cwd, '.vscode', 'mcp.json'),
    // This client asks for the key once and stores it sealed. According to reports, it takes no header from the
    // environment.
    add: (text, url) => withInput(inJson(text, 'servers', { type: 'http', url, ...bearer('${input:ras-api-key}') })),
    next: 'It asks for an API key of the project when it first connects, and keeps it.',
  },
  codex: {
    file: ({ env, home }) => path.join(env['CODEX_HOME'] || path.join(home, '.codex'), 'config.toml'),
    add: inToml,
    next: SET_KEY,
  },
};

function bearer(reference: string) {
  return { headers: { Authorization: `Bearer ${reference}` } };
}

/** Returns the configuration folder of desktop applications. */
function configFolder({ env, home, platform }: Where): string {
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] || path.join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] || path.join(home, '.config');
}

const INPUT = {
  type: 'promptString',
  id: 'ras-api-key',
  description: 'API key of the Routine Automation Service',
  password: true,
};

/** Adds the input that the header of VS Code refers to. */
function withInput(text: string): string {
  const { inputs = [], ...file } = parsed(text);
  if (!Array.isArray(inputs)) throw new Error('"inputs" is no array');
  const others = inputs.filter((each: unknown) => !isObject(each) || each['id'] !== INPUT.id);
  return rendered({ ...file, inputs: [...others, INPUT] }, text);
}

function inJson(text: string, list: string, server: object): string {
  const file = parsed(text.trim() === '' ? '{}' : text);
  const servers = file[list] ?? {};
  if (!isObject(servers)) throw new Error(`"${list}" is no object`);
  return rendered({ ...file, [list]: { ...servers, [SERVER]: server } }, text);
}

/** Writes JSON with the indentation of the original file. */
function rendered(file: object, before: string): string {
  const indent = /^[ \t]+(?=")/m.exec(before)?.[0] ?? '  ';
  return `${JSON.stringify(file, null, indent)}\n`;
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('it is no object');
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Matches the service's table in other spellings: quoted, inline, or with subtables. */
const ELSEWHERE = /^\s*(?:\[\s*)?["']?mcp_servers["']?\s*(?:=|\]|\.\s*["']?ras["']?\s*[\].=])/m;

/** Replaces the service's table in a TOML file, or adds it at the end; other lines stay. */
function inToml(text: string, url: string): string {
  const table = [
    `[mcp_servers.${SERVER}]`,
    `url = ${JSON.stringify(url)}`,
    `bearer_token_env_var = "${KEY_VARIABLE}"`,
    '',
  ].join('\n');
  const others = text.replace(/^\[mcp_servers\.ras\][^\n]*\n(?:(?![ \t]*\[)[^\n]*(?:\n|$))*/m, '');
  // A table in another spelling would be defined twice, and one inside a multi-line text is not a table.
  if (ELSEWHERE.test(others) || /"""|'''/.test(text)) {
    throw new Error('it is written in a way that only a person should change');
  }
  const before = others.trim() === '' ? '' : `${others.trimEnd()}\n\n`;
  return `${before}${table}`;
}
