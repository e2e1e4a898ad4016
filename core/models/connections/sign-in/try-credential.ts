import { randomUUID } from 'node:crypto';
import type { ModelProvider, ModelRuntime } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import { CallFailure, type CatalogResult, type VerifyResult } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { RuntimeUnreachable, type RuntimeCall } from '#lib/runtime-client/index.ts';
import { callCredential, type ModelCredential } from '../store/credential.ts';

export interface TriedCredential {
  readonly verdict: VerifyResult['credential'];
  /** Time until which the account of a good credential has no allowance left; null if calls are possible now. */
  readonly notBefore: Date | null;
  /** Models of the account; undefined when the list could not be read. The list is fetched again soon. */
  readonly models: CatalogResult['models'] | undefined;
}

const VERIFY_MS = 20_000;
const CATALOG_MS = 30_000;

/**
 * Tries a credential at its provider through the runtime, and lists its models when it is good. The test costs no
 * tokens.
 * @throws {AppError} `runtime_unavailable`, `provider_disabled`
 */
export async function tryCredential(
  { runtime, log }: { readonly runtime: ModelRuntime; readonly log: Log },
  target: {
    readonly provider: ModelProvider;
    readonly projectId: string;
    readonly connectionId: string | null;
  },
  credential: ModelCredential,
): Promise<TriedCredential> {
  try {
    const verified = await runtime.client.verify(await callOf('verify', VERIFY_MS, runtime, target, credential));
    const notBefore = notBeforeOf(verified);
    if (verified.credential !== 'accepted') {
      return { verdict: verified.credential, notBefore, models: undefined };
    }
    const models = await listModels(runtime, log, target, credential);
    return { verdict: 'accepted', notBefore, models };
  } catch (error) {
    if (error instanceof RuntimeUnreachable) throw new AppError('runtime_unavailable');
    if (!(error instanceof CallFailure)) throw error;
    if (error.code === 'provider_disabled' || error.code === 'file_mismatch') {
      throw new AppError('provider_disabled');
    }
    if (error.code === 'fenced') throw new AppError('runtime_unavailable');
    return { verdict: 'unchecked', notBefore: null, models: undefined };
  }
}

type Target = Parameters<typeof tryCredential>[1];

async function listModels(
  runtime: ModelRuntime,
  log: Log,
  target: Target,
  credential: ModelCredential,
): Promise<CatalogResult['models'] | undefined> {
  try {
    const call = await callOf('catalog', CATALOG_MS, runtime, target, credential);
    return (await runtime.client.catalog(call)).models;
  } catch (error) {
    if (!(error instanceof CallFailure || error instanceof RuntimeUnreachable)) throw error;
    const detail = error instanceof CallFailure ? error.code : error.reason;
    log.warn({ provider: target.provider.slot, detail }, 'the models of an account were not listed');
    return undefined;
  }
}

async function callOf(
  purpose: 'verify' | 'catalog',
  timeoutMs: number,
  runtime: ModelRuntime,
  { provider, projectId, connectionId }: Target,
  credential: ModelCredential,
): Promise<RuntimeCall> {
  return {
    lease: await runtime.lease(),
    requestId: `${purpose}/${randomUUID()}`,
    provider: provider.slot,
    fileHash: provider.hash,
    projectId,
    connectionId,
    credential: callCredential(credential),
    credentialVersion: 0,
    deadline: now() + timeoutMs,
  };
}

/** Pause of an account when its provider does not say how long to wait: the account may only be busy. */
const UNSAID_MS = 5 * 60_000;

function notBeforeOf({ limited, resetAt }: VerifyResult): Date | null {
  if (!limited) return null;
  const at = resetAt ?? now() + UNSAID_MS;
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at) : null;
}
