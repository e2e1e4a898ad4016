import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { DEFAULT_TASK_QUEUE } from '#lib/temporal/names.ts';
import type { ConnectionClients } from './connection-clients.ts';

/** `true` and `false`, nothing else: `TRUE`, `1` and `yes` are faults, so a launch switch is never half-read. */
function flag(fallback: boolean) {
  return z
    .enum(['true', 'false'], { error: 'expected true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true');
}

function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
}

function integer(fallback: number, min: number, max: number) {
  return wholeNumber(min, max).default(fallback);
}

const httpUrl = z.url({
  protocol: /^https?$/,
  abort: true,
  error: 'expected an http or https URL',
});
const origin = httpUrl.refine(
  (value) => URL.canParse(value) && new URL(value).origin === value,
  'expected an origin: scheme, host and port, without a path or trailing slash',
);

const secret = z
  .string({ error: 'required: at least 32 characters' })
  .min(32, 'expected at least 32 characters');

/** Addresses and networks, with commas between them; the text is checked here and read where it is used. */
const networks = z.string().transform((text, context) => {
  const list = text.split(',').map((part) => part.trim());
  for (const network of list) {
    // ipaddr.js alone also takes a bare number for an address.
    const isNetwork = isIP(network.split('/', 1)[0] ?? '') > 0;
    if (!isNetwork || !(ipaddr.isValid(network) || ipaddr.isValidCIDR(network))) {
      context.addIssue('expected addresses or networks like 10.0.0.0/8, with commas between them');
      return z.NEVER;
    }
  }
  return list;
});

const encryptionKey = z
  .string({ error: 'required: base64 of 32 bytes' })
  .refine(isBase64Of32Bytes, 'expected base64 of exactly 32 bytes');

const nonEmpty = z.string().min(1, 'expected a non-empty value');

/** Every variable the product reads, in the order in which `.env.example` documents them. */
export const variables = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'], {
      error: 'expected development, test or production',
    })
    .default('production'),
  HOST: nonEmpty.default('0.0.0.0'),
  PORT: integer(3000, 0, 65_535),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: nonEmpty.default('127.0.0.1'),
  TEMPORAL_METRICS_PORT: wholeNumber(1, 65_535).optional(),
  PUBLIC_URL: origin.default('http://localhost:3000'),
  UI_ORIGIN: origin.default('http://localhost:3001'),
  UI_HOST: nonEmpty.default('0.0.0.0'),
  UI_PORT: integer(3001, 0, 65_535),
  API_URL: origin.default('http://localhost:3000'),
  PRODUCT_TAG: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,11}$/, 'expected 2 to 12 lower-case letters and digits')
    .default('ras'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'expected fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
  TRUSTED_PROXIES: networks.default([]),
  RATE_LIMIT_PER_MINUTE: integer(600, 1, 1_000_000),
  WRONG_KEYS_PER_MINUTE: integer(60, 1, 1_000_000),
  EVENT_STREAMS_PER_CREDENTIAL: integer(20, 1, 100_000),
  EVENT_STREAMS_PER_ORGANIZATION: integer(200, 1, 100_000),
  EVENT_STREAMS_PER_PROCESS: integer(2_000, 1, 100_000),
  EVENT_STREAM_CHECK_SECONDS: integer(60, 1, 60),

  SIGN_UP: z
    .enum(['open', 'invited', 'closed'], { error: 'expected open, invited or closed' })
    .default('open'),
  MAX_ORGANIZATIONS_PER_PERSON: integer(5, 1, 100_000),
  AUDIT_RETENTION_DAYS: integer(400, 1, 36_500),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'expected an smtp:// or smtps:// URL' })
    .optional(),
  SMTP_TLS_REQUIRED: flag(true),
  MAIL_FROM: z
    .string()
    .regex(
      /^(?:[^<>\p{Cc}]{1,100} )?<?[^\s<>@]+@[^\s<>@]+>?$/u,
      'expected an address: Name <name@example.com>',
    )
    .optional(),

  DATABASE_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: 'required: a postgres:// or postgresql:// URL',
  }),
  DATABASE_POOL_SIZE: integer(10, 2, 200),
  RUN_CONTENT_DAYS: integer(90, 1, 36_500),
  RUN_DAYS: integer(400, 1, 36_500),

  TEMPORAL_ADDRESS: z
    .string({ error: 'required: host:port of the Temporal frontend' })
    .regex(/^[^\s/]+:\d{1,5}$/, 'expected host:port'),
  TEMPORAL_NAMESPACE: nonEmpty.default('default'),
  TEMPORAL_TASK_QUEUE: nonEmpty.default(DEFAULT_TASK_QUEUE),
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
    .optional(),
  TEMPORAL_API_KEY: nonEmpty.optional(),
  TEMPORAL_TLS: flag(false),
  TEMPORAL_TLS_CA_FILE: nonEmpty.optional(),
  TEMPORAL_TLS_CERT_FILE: nonEmpty.optional(),
  TEMPORAL_TLS_KEY_FILE: nonEmpty.optional(),
  WORKER_CONCURRENCY: integer(50, 1, 1000),
  WORKER_WORKFLOW_CONCURRENCY: integer(40, 2, 1000),
  WORKER_MAX_CACHED_WORKFLOWS: wholeNumber(0, 100_000).optional(),
  WORKER_SHUTDOWN_GRACE_SECONDS: integer(30, 1, 600),
  WORKER_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'expected up to 100 letters, digits and . _ + -')
    .optional(),
  WORKER_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'expected up to 100 letters, digits, _ and -')
    .optional(),
  WORKER_HEALTH_PORT: wholeNumber(0, 65_535).optional(),
  WORKER_HEALTH_HOST: nonEmpty.default('127.0.0.1'),

  ENCRYPTION_KEY: encryptionKey,
  ENCRYPTION_KEY_PREVIOUS: encryptionKey.optional(),
  BETTER_AUTH_SECRET: secret,
  SCHEDULER_SECRET: secret.optional(),

  GATEWAY_BASE_URL: httpUrl.default('https://ai-gateway.vercel.sh/v1'),
  GATEWAY_API_KEY: nonEmpty.optional(),
  MODEL_STEP_TIMEOUT_SECONDS: integer(600, 1, 3600),
  FIXTURE_MODE: flag(false),
  ALLOW_PRIVATE_NETWORK: flag(false),

  MODEL_PROVIDER_A_ENABLED: flag(false),
  MODEL_PROVIDER_A_FILE: nonEmpty.optional(),
  MODEL_PROVIDER_A_TERMS_ACCEPTED: flag(false),
  MODEL_PROVIDER_A_CLIENT_ID: nonEmpty.optional(),
  MODEL_PROVIDER_A_CLIENT_SECRET: nonEmpty.optional(),
  MODEL_PROVIDER_B_ENABLED: flag(false),
  MODEL_PROVIDER_B_FILE: nonEmpty.optional(),
  MODEL_PROVIDER_B_TERMS_ACCEPTED: flag(false),
  MODEL_PROVIDER_B_CLIENT_ID: nonEmpty.optional(),
  MODEL_PROVIDER_B_CLIENT_SECRET: nonEmpty.optional(),
  MODEL_PROVIDER_C_ENABLED: flag(false),
  MODEL_PROVIDER_C_FILE: nonEmpty.optional(),
  MODEL_PROVIDER_C_TERMS_ACCEPTED: flag(false),
  MODEL_PROVIDER_FAKE: flag(false),

  MODEL_RUNTIME_SECRET: encryptionKey.optional(),
  MODEL_RUNTIME_URL: z
    .url({ protocol: /^https$/, abort: true, error: 'expected an https URL' })
    .optional(),
  MODEL_RUNTIME_CA_FILE: nonEmpty.optional(),
  MODEL_RUNTIME_HOST: nonEmpty.default('127.0.0.1'),
  MODEL_RUNTIME_PORT: integer(8443, 0, 65_535),
  MODEL_RUNTIME_CERT_FILE: nonEmpty.optional(),
  MODEL_RUNTIME_KEY_FILE: nonEmpty.optional(),
  MODEL_RUNTIME_STATE_DIR: nonEmpty.optional(),
  MODEL_RUNTIME_SANDBOX: z
    .enum(['bubblewrap', 'process'], { error: 'expected bubblewrap or process' })
    .default('bubblewrap'),

  CONNECTION_PROVIDERS_DIR: nonEmpty.optional(),

  BILLING_DEFAULT_PLAN: z
    .enum(['free', 'starter', 'pro', 'scale'], { error: 'expected free, starter, pro or scale' })
    .default('scale'),
  RUNS_AT_A_TIME_PER_ORGANIZATION: wholeNumber(1, 1_000_000).optional(),
  MAX_COST_USD_PER_ORGANIZATION: z
    .string()
    .regex(
      /^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/,
      'expected a positive decimal number, like 250.00',
    )
    .optional(),
  COMMERCIAL_ACQUISITION_ENABLED: flag(false),
  CHECKOUT_ENABLED: flag(false),
  AUTOMATIC_TAX_ENABLED: flag(false),
  STRIPE_SECRET_KEY: nonEmpty.optional(),
  STRIPE_WEBHOOK_SECRET: nonEmpty.optional(),
  STRIPE_PRICE_STARTER: nonEmpty.optional(),
  STRIPE_PRICE_PRO: nonEmpty.optional(),
  STRIPE_PRICE_SCALE: nonEmpty.optional(),
  STRIPE_PORTAL_CONFIGURATION: nonEmpty.optional(),
  STRIPE_API_URL: origin.optional(),
  BILLING_GRACE_DAYS: integer(14, 0, 60),
  LEADS_EMAIL: z.email('expected an e-mail address').optional(),

  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
};

export const configSchema = z.object({
  ...variables,
  /** Collected from `CONNECTION_<NAME>_CLIENT_ID` and `…_SECRET`, a pair for each provider. */
  CONNECTION_CLIENTS: z.custom<ConnectionClients>().default({}),
});

/** The private provider runtime: no database, no Temporal, and none of the secrets but the one it shares. */
export const runtimeSchema = configSchema
  .pick({
    NODE_ENV: true,
    LOG_LEVEL: true,
    METRICS_PORT: true,
    METRICS_HOST: true,
    MODEL_STEP_TIMEOUT_SECONDS: true,
    MODEL_PROVIDER_A_ENABLED: true,
    MODEL_PROVIDER_A_FILE: true,
    MODEL_PROVIDER_A_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_B_ENABLED: true,
    MODEL_PROVIDER_B_FILE: true,
    MODEL_PROVIDER_B_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_C_ENABLED: true,
    MODEL_PROVIDER_C_FILE: true,
    MODEL_PROVIDER_C_TERMS_ACCEPTED: true,
    MODEL_PROVIDER_FAKE: true,
    MODEL_RUNTIME_HOST: true,
    MODEL_RUNTIME_PORT: true,
    MODEL_RUNTIME_SANDBOX: true,
  })
  .extend({
    MODEL_RUNTIME_SECRET: encryptionKey,
    MODEL_RUNTIME_CERT_FILE: file('PEM certificate'),
    MODEL_RUNTIME_KEY_FILE: file('PEM key'),
    MODEL_RUNTIME_STATE_DIR: file('folder that only the runtime can read'),
  });

export type Config = z.output<typeof configSchema>;
export type Variable = keyof typeof variables;

/** Payment billing is on with all of these, off with none of them, and a fault in between. */
export const BILLING_VARIABLES = [
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_PRICE_STARTER',
  'STRIPE_PRICE_PRO',
  'STRIPE_PRICE_SCALE',
] as const satisfies readonly Variable[];

function file(what: string) {
  return z.string({ error: `required: path of a ${what}` }).min(1, 'expected a non-empty value');
}

function isBase64Of32Bytes(value: string): boolean {
  return (
    /^[A-Za-z0-9+/]{43}=$/.test(value) && Buffer.from(value, 'base64').toString('base64') === value
  );
}
