import { z } from 'zod';
import {
  CallFailure,
  runBody,
  type FailureCode,
  type HelloResult,
  type OpenedRequest,
  type ResultOf,
} from '#lib/envelope/index.ts';
import type { LoadedProvider, ProviderSlot } from '#lib/provider-file/index.ts';
import { listModels, verifyCredential } from '../provider/catalog.ts';
import type { ProviderCall } from '../provider/request-json.ts';
import type { SandboxKind } from '../sandbox/command.ts';
import type { Sessions } from '../sandbox/sessions.ts';
import type { Lease } from '../state/lease.ts';
import type { Begun, Executions, Outcome } from './executions.ts';
import { runModel } from './run-model.ts';

export interface CallDeps extends ExecuteDeps {
  readonly instanceId: string;
  readonly sandbox: SandboxKind;
  readonly providers: Providers;
  readonly lease: Lease;
  readonly executions: Executions;
}

const cancelBody = z.strictObject({ requestId: z.string().min(1).max(200) });

/** Answers an opened envelope, at once or when its work has ended. */
export function answer(request: OpenedRequest, deps: CallDeps): Begun {
  const { claims } = request;
  if (claims.purpose === 'hello') {
    // `hello` is accepted under any epoch, because its sender may not know the current epoch yet.
    deps.lease.renew(claims.epoch);
    return known({ type: 'result', value: hello(deps) });
  }
  // Epochs of leases begin with 1. A sender without a lease sends 0.
  if (claims.epoch === 0 || !deps.lease.renew(claims.epoch)) return failed('fenced');
  if (claims.purpose === 'cancel') return cancel(request, deps);
  const provider = claims.provider === null ? undefined : deps.providers.get(claims.provider);
  if (provider === undefined) return failed('provider_disabled');
  if (provider.hash !== claims.fileHash) return failed('file_mismatch');
  return deps.executions.begin(request, (signal) => execute(request, provider, signal, deps));
}

function hello({ instanceId, lease, sandbox, providers }: CallDeps): HelloResult {
  const enabled = [...providers].map(([slot, { hash }]) => [slot, { fileHash: hash }]);
  return { instanceId, epoch: lease.epoch(), sandbox, providers: Object.fromEntries(enabled) };
}

function cancel({ body }: OpenedRequest, { executions }: CallDeps): Begun {
  const parsed = cancelBody.safeParse(body);
  const cancelled = parsed.success && executions.cancel(parsed.data.requestId);
  return known({ type: 'result', value: { cancelled } satisfies ResultOf<'cancel'> });
}

function failed(code: FailureCode): Begun {
  return known({ type: 'failure', code, details: {} });
}

function known(outcome: Outcome): Begun {
  return { kind: 'begun', outcome: Promise.resolve(outcome), leave: () => undefined };
}

type Providers = ReadonlyMap<ProviderSlot, LoadedProvider>;

interface ExecuteDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly sessions: Sessions;
}

/** Does the work of one call. @throws {CallFailure}, or the signal's reason */
async function execute(
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
