import { z } from 'zod';
import { emailAddress } from '#lib/email-address.ts';
import { DEFAULT_TASK_QUEUE } from '#lib/task-queues.ts';
import {
  backends,
  encryptionKey,
  flag,
  httpUrl,
  integer,
  networks,
  nonEmpty,
  origin,
  secret,
  wholeNumber,
} from './values.ts';

/** Gateway to use if neither an address nor a file of sources is given. */
export const DEFAULT_GATEWAY = 'https://ai-gateway.vercel.sh/v1';

/** Every variable of the product, in the order in which `.env.example` documents them. */
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
  ALLOW_PLAINTEXT_TO: backends.default([]),
  RATE_LIMIT_PER_MINUTE: integer(600, 1, 1_000_000),
  WRONG_KEYS_PER_MINUTE: integer(60, 1, 1_000_000),
  EVENT_STREAMS_PER_CREDENTIAL: integer(20, 1, 100_000),
  EVENT_STREAMS_PER_ORGANIZATION: integer(200, 1, 100_000),
  EVENT_STREAMS_PER_PROCESS: integer(2_000, 1, 100_000),
  EVENT_STREAM_CHECK_SECONDS: integer(60, 1, 60),
  MCP_FROM_ROUTINES: flag(false),

  SIGN_UP: z.enum(['open', 'invited', 'closed'], { error: 'expected open, invited or closed' }).default('open'),
  OAUTH_CLIENT_REGISTRATION_ENABLED: flag(false),
  MAX_ORGANIZATIONS_PER_PERSON: integer(5, 1, 100_000),
  AUDIT_RETENTION_DAYS: integer(400, 1, 36_500),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'expected an smtp:// or smtps:// URL' }).optional(),
  SMTP_TLS_REQUIRED: flag(true),
  MAIL_FROM: z
    .string()
    .regex(/^(?:[^<>\p{Cc}]{1,100} )?<?[^\s<>@]+@[^\s<>@]+>?$/u, 'expected an address: Name <name@example.com>')
    .optional(),

  DATABASE_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: 'required: a postgres:// or postgresql:// URL',
  }),
  DATABASE_DIRECT_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected a postgres:// or postgresql:// URL' })
    .optional(),
  DATABASE_POOL_SIZE: integer(10, 2, 200),
  RUN_CONTENT_DAYS: integer(100, 1, 36_500),
  RUN_DAYS: integer(400, 1, 36_500),

  TEMPORAL_ADDRESS: z
    .string({ error: 'required: host:port of the Temporal frontend' })
    .regex(/^[^\s/]+:\d{1,5}$/, 'expected host:port'),
  TEMPORAL_NAMESPACE: nonEmpty.default('default'),
  TEMPORAL_TASK_QUEUE: nonEmpty.default(DEFAULT_TASK_QUEUE),
  TEMPORAL_UI_URL: z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' }).optional(),
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

  GATEWAY_BASE_URL: httpUrl.default(DEFAULT_GATEWAY),
  GATEWAY_API_KEY: nonEmpty.optional(),
  GATEWAYS_FILE: nonEmpty.optional(),
  MODEL_STEP_TIMEOUT_SECONDS: integer(600, 1, 3600),
  MODEL_SILENCE_SECONDS: integer(180, 1, 3600),
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
  MODEL_RUNTIME_URL: z.url({ protocol: /^https$/, abort: true, error: 'expected an https URL' }).optional(),
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
    .regex(/^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/, 'expected a positive decimal number, like 250.00')
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
  LEADS_EMAIL: emailAddress.optional(),

  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
};

export type Variable = keyof typeof variables;

/** The variables of a process that are set. */
export type Present = Partial<Record<string, string>>;

/** Payment is on if all of these variables are set, and off if none is. Any other choice is refused. */
export const BILLING_VARIABLES = [
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_PRICE_STARTER',
  'STRIPE_PRICE_PRO',
  'STRIPE_PRICE_SCALE',
] as const satisfies readonly Variable[];

/** Secrets. No two of them may be equal, except addresses. Each may come from a file, which `<NAME>_FILE` names. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'SMTP_URL',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
  'BETTER_AUTH_SECRET',
  'SCHEDULER_SECRET',
  'GATEWAY_API_KEY',
  'TEMPORAL_API_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'MODEL_RUNTIME_SECRET',
  'MODEL_PROVIDER_A_CLIENT_SECRET',
  'MODEL_PROVIDER_B_CLIENT_SECRET',
] as const satisfies readonly Variable[];
