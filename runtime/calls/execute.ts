import { CallFailure, runBody, type OpenedRequest } from '#lib/envelope/index.ts';
import type { LoadedProvider, ProviderSlot } from '#lib/provider-file/index.ts';
import { listModels } from '../provider/catalog.ts';
import type { ProviderCall } from '../provider/request-json.ts';
import { verifyCredential } from '../provider/verify.ts';
import type { Sessions } from '../sandbox/sessions.ts';
import { runModel } from './run-model.ts';

export type Providers = ReadonlyMap<ProviderSlot, LoadedProvider>;

export interface ExecuteDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly sessions: Sessions;
}

/** Does the work of one call. @throws {CallFailure}, or the signal's reason */
export async function execute(
  { claims, body, credential }: OpenedRequest,
  provider: LoadedProvider,
  signal: AbortSignal,
  deps: ExecuteDeps,
): Promise<unknown> {
  if (credential === null) throw new CallFailure('credential_refused', { status: null });
  const call: ProviderCall = { provider, credential, fetch: deps.fetch, signal };
  switch (claims.purpose) {
    case 'verify':
      return verifyCredential(call);
    case 'catalog':
      return listModels(call);
    case 'run': {
      const parsed = runBody.safeParse(body);
      if (!parsed.success) throw new CallFailure('model_error', { status: null, retryable: false });
      return runModel(call, parsed.data, deps.sessions);
    }
    default:
      throw new Error(`${claims.purpose} is not executed`);
  }
}
