import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import {
  ANY_INSTANCE,
  catalogResult,
  envelopeKeys,
  helloResult,
  runResult,
  verifyResult,
  type HelloResult,
  type RequestToSeal,
  type ResultOf,
  type RunBody,
} from '#lib/envelope/index.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import { exchange, openConnections, SILENCE_MS, type Exchange, RuntimeUnreachable } from './exchange.ts';
import { now } from '#lib/clock.ts';

export interface RuntimeClientSettings {
  readonly url: string;
  /** Shared secret: base64 of 32 bytes, the same as the runtime's. */
  readonly secret: string;
  /** Certificate (PEM) of the only trusted authority. */
  readonly ca: string;
  /** Name of the calling process, for the envelope. */
  readonly issuer: string;
  /** Refuses a runtime that isolates no sessions, as production does. */
  readonly requireIsolation: boolean;
  /** Longest silence of the runtime. Default 20 seconds. */
  readonly silenceMs?: number;
}

/** The caller's lease, as in the database. */
export interface RuntimeLease {
  readonly instanceId: string;
  readonly epoch: number;
}

/** One call on a connection. The credential belongs to this call and is not stored. */
export interface RuntimeCall {
  readonly lease: RuntimeLease;
  /**
   * Id of the call, the same for every delivery of the call. Another id may be used only once an outcome is recorded.
   */
  readonly requestId: string;
  readonly provider: ProviderSlot;
  readonly fileHash: string;
  readonly projectId: string;
  readonly connectionId: string | null;
  readonly credential: { readonly value: string; readonly account: string | null };
  readonly credentialVersion: number;
  /** Deadline of the work, in Unix milliseconds. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RunCall extends RuntimeCall {
  readonly runId: string;
  readonly step: number;
  readonly body: RunBody;
}

export interface RuntimeClient {
  /** Asks which runtime is there, and renews the lease of a given epoch. */
  hello(options?: { readonly epoch?: number; readonly signal?: AbortSignal }): Promise<HelloResult>;
  verify(call: RuntimeCall): Promise<ResultOf<'verify'>>;
  catalog(call: RuntimeCall): Promise<ResultOf<'catalog'>>;
  run(call: RunCall): Promise<ResultOf<'run'>>;
  /**
   * Ends a running call.
   * @returns false if the call was not running
   */
  cancel(lease: RuntimeLease, requestId: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The most deliveries of a call whose stream breaks, and the pause before the next delivery. */
const DELIVERIES = 3;
const PAUSE_MS = 500;

/** Reasons that leave open whether the runtime has accepted, or will accept, the envelope. */
const DELIVER_AGAIN: ReadonlySet<string> = new Set(['no_connection', 'silent', 'broken']);

/**
 * Calls the provider runtime in sealed envelopes. A call with a broken stream is delivered again under the same id. The
 * runtime then joins it to the running call or returns its result, so the provider is asked only once. Every method
 * throws `CallFailure` for a sealed failure, and `RuntimeUnreachable` without a sealed response.
 */
export function createRuntimeClient(settings: RuntimeClientSettings): RuntimeClient {
  const agent = openConnections(settings.ca);
  const to: Exchange = {
    url: new URL('/v1/envelopes', settings.url),
    agent,
    keys: envelopeKeys(settings.secret),
    silenceMs: settings.silenceMs ?? SILENCE_MS,
  };
  const { issuer } = settings;

  const call = async <T extends z.ZodType>(
    purpose: 'verify' | 'catalog' | 'run',
    given: RuntimeCall & Partial<RunCall>,
    result: T,
  ): Promise<z.output<T>> => {
    const sealed: RequestToSeal = {
      claims: {
        issuer,
        audience: given.lease.instanceId,
        requestId: given.requestId,
        epoch: given.lease.epoch,
        purpose,
        provider: given.provider,
        fileHash: given.fileHash,
        projectId: given.projectId,
        connectionId: given.connectionId,
        credentialVersion: given.credentialVersion,
        runId: given.runId ?? null,
        step: given.step ?? null,
        deadline: given.deadline,
      },
      body: given.body ?? {},
      credential: given.credential,
    };
    return checked(result, await deliver(sealed, given.deadline, given.signal));
  };

  const deliver = async (
    sealed: RequestToSeal,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> => {
    for (let delivery = 1; ; delivery += 1) {
      try {
        return await exchange(sealed, to, signal);
      } catch (error) {
        const again =
          error instanceof RuntimeUnreachable &&
          DELIVER_AGAIN.has(error.reason) &&
          delivery < DELIVERIES &&
          now() < deadline;
        if (!again) throw error;
        await sleep(PAUSE_MS * delivery, undefined, signal === undefined ? {} : { signal });
      }
    }
  };

  return {
    async hello({ epoch = 0, signal } = {}) {
      const claims = bare(issuer, 'hello', ANY_INSTANCE, epoch);
      const value = await exchange({ claims, body: {}, credential: null }, to, signal);
      const said = checked(helloResult, value);
      if (settings.requireIsolation && said.sandbox !== 'bubblewrap') {
        throw new RuntimeUnreachable('not_isolated');
      }
      return said;
    },
    verify: (given) => call('verify', given, verifyResult),
    catalog: (given) => call('catalog', given, catalogResult),
    run: (given) => call('run', given, runResult),
    async cancel({ instanceId, epoch }, requestId) {
      const claims = bare(issuer, 'cancel', instanceId, epoch);
      const value = await exchange({ claims, body: { requestId }, credential: null }, to, undefined);
      return typeof value === 'object' && value !== null && 'cancelled' in value ? value.cancelled === true : false;
    },
    close: () => agent.destroy(),
  };
}

/** The claims of a call that concerns no connection. */
function bare(issuer: string, purpose: 'hello' | 'cancel', audience: string, epoch: number): RequestToSeal['claims'] {
  return {
    issuer,
    audience,
    requestId: `${purpose}/${randomUUID()}`,
    epoch,
    purpose,
    provider: null,
    fileHash: null,
    projectId: null,
    connectionId: null,
    credentialVersion: null,
    runId: null,
    step: null,
    deadline: null,
  };
}

function checked<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new RuntimeUnreachable('broken');
  return parsed.data;
}
