import type { z } from 'zod';
import { readModelSources } from './model-sources.ts';
import { dashboardFaults, isProduction, productionFaults, repeatedSecrets } from './faults.ts';
import { readSecretFiles } from './secret-files.ts';
import { configSchema, readConnectionClients, runtimeSchema } from './schema.ts';
import { DEFAULT_GATEWAY, type Present } from './variables.ts';

const PAYMENT = {
  NODE_ENV: true,
  LOG_LEVEL: true,
  UI_ORIGIN: true,
  COMMERCIAL_ACQUISITION_ENABLED: true,
  CHECKOUT_ENABLED: true,
  AUTOMATIC_TAX_ENABLED: true,
  BILLING_GRACE_DAYS: true,
  STRIPE_SECRET_KEY: true,
  STRIPE_WEBHOOK_SECRET: true,
  STRIPE_PRICE_STARTER: true,
  STRIPE_PRICE_PRO: true,
  STRIPE_PRICE_SCALE: true,
  STRIPE_PORTAL_CONFIGURATION: true,
  STRIPE_API_URL: true,
} as const;

/** Lists the variables that each process uses: a worker signs no sessions, and a migration needs no Temporal. */
const roleSchemas = {
  api: configSchema,
  worker: configSchema.omit({ BETTER_AUTH_SECRET: true, SCHEDULER_SECRET: true }),
  migrate: configSchema.pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    DATABASE_URL: true,
    DATABASE_DIRECT_URL: true,
  }),
  accounts: configSchema.pick({ NODE_ENV: true, LOG_LEVEL: true, DATABASE_URL: true }),
  keys: configSchema.pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    DATABASE_URL: true,
    ENCRYPTION_KEY: true,
    ENCRYPTION_KEY_PREVIOUS: true,
  }),
  'billing-check': configSchema.pick(PAYMENT),
  'billing-reconcile': configSchema.pick({ ...PAYMENT, DATABASE_URL: true }),
  'billing-setup': configSchema.pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    STRIPE_SECRET_KEY: true,
    STRIPE_API_URL: true,
  }),
  deployment: configSchema.pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    DATABASE_URL: true,
    TEMPORAL_ADDRESS: true,
    TEMPORAL_NAMESPACE: true,
    TEMPORAL_TASK_QUEUE: true,
    TEMPORAL_API_KEY: true,
    TEMPORAL_TLS: true,
    TEMPORAL_TLS_CA_FILE: true,
    TEMPORAL_TLS_CERT_FILE: true,
    TEMPORAL_TLS_KEY_FILE: true,
    WORKER_DEPLOYMENT_NAME: true,
  }),
  runtime: runtimeSchema,
  ui: configSchema.pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    UI_ORIGIN: true,
    UI_HOST: true,
    UI_PORT: true,
    API_URL: true,
    COMMERCIAL_ACQUISITION_ENABLED: true,
  }),
};

export type Role = keyof typeof roleSchemas;
export type ConfigOf<R extends Role> = z.output<(typeof roleSchemas)[R]>;

/** Lists every fault as `VARIABLE: expectation`, without the value. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration has ${faults.length} fault(s):\n${faults.map((f) => `  ${f}`).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads the configuration of one process from its environment, once. An empty variable counts as absent, and a secret
 * may come from a file.
 * @throws {ConfigError} naming every fault of the configuration
 */
export function loadConfig<R extends Role>(role: R, environment: NodeJS.ProcessEnv = process.env): ConfigOf<R> {
  const callsModels = role === 'api' || role === 'worker';
  const { present, faults: fileFaults } = readSecretFiles(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')),
    (name) => name in roleSchemas[role].shape || (callsModels && name.startsWith('CONNECTION_')),
  );
  const { clients, faults: clientFaults } = readConnectionClients(present);
  const { sources, faults: sourceFaults } = callsModels
    ? readModelSources({ GATEWAY_BASE_URL: DEFAULT_GATEWAY, ...present })
    : { sources: [], faults: [] };
  const parsed = roleSchemas[role].safeParse({
    ...present,
    CONNECTION_CLIENTS: clients,
    MODEL_SOURCES: sources,
  });
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  faults.push(...productionFaults(role, present, sources));
  if (role === 'ui') faults.push(...dashboardFaults(present));
  if (role === 'api' || role === 'worker' || role === 'runtime') {
    faults.push(...repeatedSecrets(present), ...modelRuntimeFaults(role, present));
  }
  if (callsModels) faults.push(...clientFaults, ...sourceFaults);
  // If the file of a secret is unusable, report the file only: the missing secret is a consequence.
  const isKnown = (fault: string) => fileFaults.some((each) => each.startsWith(`${fault.split(':', 1)[0]}_FILE: `));
  faults.splice(0, faults.length, ...fileFaults, ...faults.filter((fault) => !isKnown(fault)));
  if (faults.length > 0 || !parsed.success) throw new ConfigError(faults);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema is looked up by role, which TypeScript cannot follow
  return parsed.data as ConfigOf<R>;
}

/** Reads the configuration of a starting process. Faults end the process, as sentences without a stack trace. */
export function startingConfig<R extends Role>(role: R): ConfigOf<R> {
  try {
    return loadConfig(role);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

const SLOTS = ['A', 'B', 'C'] as const;
/** Slots whose provider signs people in with a client of the operator. */
const OAUTH_SLOTS = ['A', 'B'] as const;

function modelRuntimeFaults(role: 'api' | 'worker' | 'runtime', present: Present): string[] {
  const faults: string[] = [];
  if (isProduction(present) && present['MODEL_PROVIDER_FAKE'] === 'true') {
    faults.push('MODEL_PROVIDER_FAKE: fixture providers are refused in production');
  }
  const enabled = SLOTS.filter((slot) => present[`MODEL_PROVIDER_${slot}_ENABLED`] === 'true');
  for (const slot of enabled) {
    const missing = `MODEL_PROVIDER_${slot}_FILE`;
    if (present[missing] === undefined) faults.push(requiredFor(missing, slot));
  }
  if (role !== 'runtime') return [...faults, ...callerFaults(present, enabled)];
  if (isProduction(present) && present['MODEL_RUNTIME_SANDBOX'] === 'process') {
    faults.push('MODEL_RUNTIME_SANDBOX: process isolates nothing and is refused in production');
  }
  return faults;
}

/** Lists missing settings of the runtime and of sign-in clients. API and workers need both if a provider is enabled. */
function callerFaults(present: Present, enabled: readonly (typeof SLOTS)[number][]): string[] {
  const [first] = enabled;
  if (first === undefined) return [];
  const runtime = ['MODEL_RUNTIME_URL', 'MODEL_RUNTIME_SECRET', 'MODEL_RUNTIME_CA_FILE']
    .filter((name) => present[name] === undefined)
    .map((name) => requiredFor(name, first));
  const clients = OAUTH_SLOTS.filter((slot) => enabled.includes(slot))
    .map((slot) => [`MODEL_PROVIDER_${slot}_CLIENT_ID`, slot] as const)
    .filter(([name]) => present[name] === undefined)
    .map(([name, slot]) => requiredFor(name, slot));
  return [...runtime, ...clients];
}

function requiredFor(name: string, slot: string): string {
  return `${name}: required, as MODEL_PROVIDER_${slot}_ENABLED is true`;
}
