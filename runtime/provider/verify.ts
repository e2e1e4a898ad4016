import type { VerifyResult } from '#lib/envelope/index.ts';
import { requestJson, type ProviderCall } from './request-json.ts';

/**
 * Tries a credential by the request that the file names, which costs nothing. An account that is used up or busy proves
 * the credential; a provider that is away proves nothing.
 */
export async function verifyCredential(call: ProviderCall): Promise<VerifyResult> {
  const outcome = await requestJson(call, call.provider.file.verify);
  // Some prove it by an answer without JSON; that it was 200 is enough.
  if ('body' in outcome || outcome.failure.code === 'malformed') return ACCEPTED;
  const { code, details } = outcome.failure;
  if (code === 'credential_refused') {
    return { credential: 'rejected', limited: false, resetAt: null };
  }
  if (code === 'usage_limit' || code === 'rate_limited') {
    return { credential: 'accepted', limited: true, resetAt: details.resetAt ?? null };
  }
  return { credential: 'unchecked', limited: false, resetAt: null };
}

const ACCEPTED: VerifyResult = { credential: 'accepted', limited: false, resetAt: null };
