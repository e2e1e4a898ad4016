import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { isSecret, variables } from '#lib/config/index.ts';
import { PROVIDERS } from './models/servers.ts';

/** Folder of all files that a local start keeps: data, logs, generated secrets, the demo key. */
export const DATA_DIR = path.resolve(import.meta.dirname, '../..', '.data');

export interface Ports {
  readonly api: number;
  readonly ui: number;
  readonly postgres: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly gateway: number;
  readonly tools: number;
  readonly payments: number;
  readonly modelProviders: number;
  readonly modelSignIn: number;
  readonly modelRuntime: number;
  readonly smtp: number;
  readonly mail: number;
}

/** The ports of a local start, each with the variable that changes it. */
export const PORT_VARIABLES = {
  api: ['PORT', 3000],
  ui: ['UI_PORT', 3001],
  postgres: ['POSTGRES_PORT', 54_329],
  temporal: ['TEMPORAL_PORT', 7233],
  temporalUi: ['TEMPORAL_UI_PORT', 8233],
  gateway: ['GATEWAY_PORT', 4010],
  tools: ['TOOLS_PORT', 4011],
  payments: ['PAYMENTS_PORT', 4014],
  modelProviders: ['MODEL_PROVIDERS_PORT', 4012],
  modelSignIn: ['MODEL_SIGN_IN_PORT', 4013],
  modelRuntime: ['MODEL_RUNTIME_PORT', 8443],
  smtp: ['MAIL_SMTP_PORT', 1025],
  mail: ['MAIL_PORT', 8025],
} as const satisfies Record<keyof Ports, readonly [variable: string, fallback: number]>;

/**
 * Reads the ports. `PORT_OFFSET` is added to each port whose own variable is not set.
 * @throws an error that names the variable whose value is not a port, or is a port that browsers block
 */
export function readPorts(env: NodeJS.ProcessEnv): Ports {
  const offset = Number(env['PORT_OFFSET'] || 0);
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_OFFSET) {
    throw new Error(
      `PORT_OFFSET must be a whole number from 0 to ${MAX_OFFSET}: it is added to every port, and the highest is ${HIGHEST_PORT}.`,
    );
  }
  const read = (name: keyof Ports): number => {
    const [variable, fallback] = PORT_VARIABLES[name];
    const text = env[variable];
    const port = text === undefined || text === '' ? fallback + offset : Number(text);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new Error(`${variable} must be a port from 1 to 65535.`);
    }
    if (BLOCKED.has(port) && !NO_HTTP.has(name)) {
      throw new Error(
        `${variable} would be ${port}, a port that browsers refuse to open. Set ${variable} or PORT_OFFSET to another number.`,
      );
    }
    return port;
  };
  return {
    api: read('api'),
    ui: read('ui'),
    postgres: read('postgres'),
    temporal: read('temporal'),
    temporalUi: read('temporalUi'),
    gateway: read('gateway'),
    tools: read('tools'),
    payments: read('payments'),
    modelProviders: read('modelProviders'),
    modelSignIn: read('modelSignIn'),
    modelRuntime: read('modelRuntime'),
    smtp: read('smtp'),
    mail: read('mail'),
  };
}

/** Ports above 1023 that browsers and `fetch` refuse: https://fetch.spec.whatwg.org/#port-blocking. */
const BLOCKED: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);
const NO_HTTP: ReadonlySet<keyof Ports> = new Set(['postgres', 'temporal', 'smtp']);

const HIGHEST_PORT = Math.max(...Object.values(PORT_VARIABLES).map(([, fallback]) => fallback));
const MAX_OFFSET = 65_535 - HIGHEST_PORT;

/**
 * Returns the environment without the service's variables. A test or benchmark then has only the models, servers and
 * settings that it chooses, also on a machine with keys in its environment.
 */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSetting(name)));
}

/** Tells whether the service, its start or a model provider's key uses a variable. */
export function isSetting(name: string): boolean {
  return SETTINGS.has(name) || isSecret(name.replace(/_FILE$/, '')) || /^CONNECTION_[A-Z0-9_]+_CLIENT_ID$/.test(name);
}

/** Names of all variables that `npm start` reads. */
export const SETTINGS: ReadonlySet<string> = new Set([
  ...Object.keys(variables),
  ...Object.values(PORT_VARIABLES).map(([variable]) => variable),
  'PORT_OFFSET',
  ...PROVIDERS.map(({ apiKeyVariable }) => apiKeyVariable),
]);

const stringRecord = z.record(z.string(), z.string());

/**
 * Returns the secrets of this folder's installation. The first start creates them, readable for their owner only; a
 * later start adds new ones.
 */
export function localSecrets(folder: string) {
  const file = path.join(folder, 'secrets.json');
  const kept = existsSync(file) ? stringRecord.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  const secrets = {
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BETTER_AUTH_SECRET: randomBytes(36).toString('base64url'),
    SCHEDULER_SECRET: randomBytes(36).toString('base64url'),
    MODEL_RUNTIME_SECRET: randomBytes(32).toString('base64'),
    ...kept,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  return secrets;
}
