import type { Core } from '#core/core.ts';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigOf } from '#lib/config/index.ts';
import { type Database, type Db, sql } from '#lib/database/index.ts';
import type { HelloResult } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  createRuntimeClient,
  RuntimeUnreachable,
  type RuntimeClient,
  type RuntimeLease,
} from '#lib/runtime-client/index.ts';
import type { ModelProvider } from './providers.ts';

/** The provider runtime, as API and workers see it. */
export interface ModelRuntime {
  readonly client: RuntimeClient;
  /** Returns the running lease, or takes a new lease. @throws {RuntimeUnreachable} */
  lease(): Promise<RuntimeLease>;
  /**
   * Checks that the runtime takes work for the provider, by its report of the last seconds.
   * @throws {AppError} `runtime_unavailable`, and `provider_disabled` when its flag is off or its file differs
   */
  requireProvider(provider: ProviderRef): Promise<void>;
  /**
   * Tells, within a second and a half, whether the runtime takes work. No list waits longer for a runtime that hangs.
   */
  status(provider: ProviderRef): Promise<RuntimeStatus>;
  close(): Promise<void>;
}

type ProviderRef = Pick<ModelProvider, 'slot' | 'hash'>;
export type RuntimeStatus = 'ready' | 'provider_disabled' | 'provider_mismatch' | 'runtime_unavailable';

const STATUS_MS = 1_500;

export interface ModelRuntimeDeps extends Pick<Core, 'database'> {
  readonly client: RuntimeClient;
  /** Milliseconds for which a `hello` is valid. Default 5,000. */
  readonly freshMs?: number;
}

/** Opens the client of the configured runtime; undefined if no runtime is configured. */
export function openModelRuntime(
  config: ConfigOf<'worker'>,
  database: Database,
  issuer: string,
): ModelRuntime | undefined {
  const { MODEL_RUNTIME_URL: url, MODEL_RUNTIME_SECRET: secret } = config;
  const caFile = config.MODEL_RUNTIME_CA_FILE;
  if (url === undefined || secret === undefined || caFile === undefined) return undefined;
  const client = createRuntimeClient({
    url,
    secret,
    ca: readFileSync(caFile, 'utf8'),
    issuer,
    requireIsolation: config.NODE_ENV === 'production',
  });
  return createModelRuntime({ database, client });
}

export function createModelRuntime({ database, client, freshMs = 5_000 }: ModelRuntimeDeps): ModelRuntime {
  let last: { readonly said: HelloResult | undefined; readonly at: number } | undefined;
  let asking: Promise<HelloResult> | undefined;

  const hello = (): Promise<HelloResult> => {
    asking ??= client
      .hello()
      .then(
        (said) => remember(said),
        (error: unknown) => {
          remember(undefined);
          throw error;
        },
      )
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  const remember = <T extends HelloResult | undefined>(said: T): T => {
    last = { said, at: performance.now() };
    return said;
  };
  const recent = () => (last !== undefined && performance.now() - last.at < freshMs ? last : undefined);

  return {
    client,

    async lease() {
      for (let turn = 0; turn < 3; turn += 1) {
        const running = await readRuntimeLease(database);
        if (running !== undefined) return running;
        const { instanceId, epoch } = await hello();
        const taken = await takeRuntimeLease(database, { instanceId, seenEpoch: epoch });
        if (taken !== undefined) return taken;
      }
      throw new RuntimeUnreachable('rejected');
    },

    async requireProvider(provider) {
      const said = recent()?.said ?? (await helloOrUndefined(hello));
      if (said === undefined) throw new AppError('runtime_unavailable');
      if (statusIn(said, provider) !== 'ready') throw new AppError('provider_disabled');
    },

    async status(provider) {
      const known = recent();
      const said =
        known === undefined
          ? await Promise.race([helloOrUndefined(hello), sleep(STATUS_MS, undefined, { ref: false })])
          : known.said;
      return said === undefined ? 'runtime_unavailable' : statusIn(said, provider);
    },

    close: () => client.close(),
  };
}

function statusIn({ providers }: HelloResult, { slot, hash }: ProviderRef) {
  const there = providers[slot];
  if (there === undefined) return 'provider_disabled';
  return there.fileHash === hash ? 'ready' : 'provider_mismatch';
}

async function helloOrUndefined(hello: () => Promise<HelloResult>): Promise<HelloResult | undefined> {
  try {
    return await hello();
  } catch (error) {
    if (error instanceof RuntimeUnreachable) return undefined;
    throw error;
  }
}

export interface KeeperDeps extends Pick<Core, 'database' | 'log'> {
  readonly runtime: Pick<ModelRuntime, 'client' | 'lease'>;
  /** Milliseconds between two renewals. By default two renewals may fail before the lease of 30 seconds ends. */
  readonly everyMs?: number;
}

const RENEW_EVERY_MS = 8_000;

/**
 * Renews the lease on the runtime until `signal` aborts: first at the runtime, by an envelope with the lease's epoch,
 * then in the table. Any number of processes renew the same lease. The lease is never given back, because another
 * process may be using it; it runs out.
 */
export async function keepRuntimeLease(deps: KeeperDeps, signal: AbortSignal): Promise<void> {
  let held = true;
  while (!signal.aborted) {
    try {
      held = await renew(deps);
      if (!held) deps.log.warn('a provider runtime other than the leased one responds');
    } catch (err) {
      // Log an outage once, even if it lasts.
      if (held) deps.log.warn({ err }, 'the lease on the provider runtime was not renewed');
      held = false;
    }
    await sleep(deps.everyMs ?? RENEW_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** @returns false when another instance than the leased instance responds, or the epochs differ */
async function renew({ database, runtime }: KeeperDeps): Promise<boolean> {
  const lease = await runtime.lease();
  const said = await runtime.client.hello({ epoch: lease.epoch });
  if (said.instanceId !== lease.instanceId || said.epoch !== lease.epoch) return false;
  return renewRuntimeLease(database, lease);
}

/** Reads the running lease; undefined if none runs. */
export function readRuntimeLease(db: Db): Promise<RuntimeLease | undefined> {
  return db.row<RuntimeLease>`select instance_id as "instanceId", epoch from runtime_lease where expires_at > now()`;
}

/**
 * Takes the lease with the next epoch, once the present lease has run out. Until then no other instance gets a lease,
 * not even a replacement, because both might work at the same time.
 * @param input.seenEpoch the highest epoch that the runtime has seen
 * @returns undefined when another process has just taken the lease
 */
export function takeRuntimeLease(
  db: Db,
  input: { readonly instanceId: string; readonly seenEpoch: number },
): Promise<RuntimeLease | undefined> {
  return db.row<RuntimeLease>`
    insert into runtime_lease as lease (instance_id, epoch, expires_at)
    values (${input.instanceId}, ${input.seenEpoch}::bigint + 1, now() + interval '30 seconds')
    on conflict (singleton) do update set instance_id = excluded.instance_id,
      epoch = greatest(lease.epoch + 1, excluded.epoch), expires_at = excluded.expires_at
    where lease.expires_at <= now()
    returning instance_id as "instanceId", epoch
  `;
}

async function renewRuntimeLease(db: Db, lease: RuntimeLease): Promise<boolean> {
  const touched = await db.run`
    update runtime_lease set expires_at = now() + interval '30 seconds'
    where instance_id = ${lease.instanceId} and epoch = ${lease.epoch} and expires_at > now()
  `;
  return touched === 1;
}

/** The running lease, as a relation with `instance_id` and `epoch`. */
export const runningLease = sql`(select instance_id, epoch from runtime_lease where expires_at > now())`;
