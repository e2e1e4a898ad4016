import { cancelAtRuntime, issueCall, type IssuedCall } from '#core/models/calls/index.ts';
import {
  markNotReady,
  type AccountsCore,
  type CallCredential,
  type ModelCredentials,
} from '#core/models/connections/index.ts';
import type { ModelProvider, ModelRuntime } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import type { RunBody } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import { SecretUnreadable } from '#lib/secrets/index.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import { NotRenewed } from '#lib/shared-renewal.ts';
import { isAwaited, isStillWanted } from '../begin-step.ts';
import type { AccountStep, ModelCall, ModelCaller, ModelResponse } from '../model-call.ts';
import { ModelFailure, Stop } from '../stop.ts';
import { fromUnreachable, recordFailure, responseOf } from './response.ts';

export interface AccountCallerDeps extends Pick<AccountsCore, 'database' | 'log' | 'modelProviders' | 'modelRuntime'> {
  readonly modelCredentials: ModelCredentials;
  /** The longest that one call may take. */
  readonly timeoutMs: number;
}

/** Credential and destination of one call. */
interface Target {
  readonly step: AccountStep;
  readonly provider: ModelProvider;
  readonly runtime: ModelRuntime;
  /** Deadline of the call in Unix milliseconds. */
  readonly deadline: number;
}

/**
 * Calls models on people's own accounts through the provider runtime. Each call is issued in the database first, under
 * a request id that stays the same until an outcome is recorded: a worker that takes over asks for the same call.
 */
export function createAccountCaller(deps: AccountCallerDeps): ModelCaller {
  return {
    timeoutMs: deps.timeoutMs,
    async call(input) {
      const target = targetOf(deps, input);
      const { connection } = target.step;
      const { modelCredentials } = deps;
      const { signal } = input;
      const credential = await usable(modelCredentials.forCall(connection, { deadline: target.deadline, signal }));
      const response = await callWith(credential, deps, input, target);
      if (response !== undefined) return response;
      // The provider refused the credential: try once more if a renewed credential exists.
      const renewed = await usable(modelCredentials.refused(connection, credential.version, signal));
      if (renewed !== undefined) {
        const second = await callWith(renewed, deps, input, target);
        if (second !== undefined) return second;
        // Mark the connection as not ready: the owner has to sign in again.
        await markNotReady(deps.database, connection, renewed.version, 'authorization_revoked');
      }
      throw new ModelFailure('model_credential_refused', 'The provider refused the credential.', { retryable: false });
    },
    close: () => Promise.resolve(),
  };
}

function targetOf({ modelProviders, modelRuntime, timeoutMs }: AccountCallerDeps, input: ModelCall): Target {
  const step = input.account;
  if (step === undefined) throw new Error('the call is on no account');
  const provider = modelProviders.find(step.provider);
  if (provider === undefined || modelRuntime === undefined) throw Stop.fails('blocked_provider_disabled');
  const deadline = now() + Math.min(step.remainingMs, timeoutMs);
  return { step, provider, runtime: modelRuntime, deadline };
}

/** @throws {Stop} when the account can have no credential, {ModelFailure} when no sign-in can be renewed now */
async function usable<T>(credential: Promise<T>): Promise<T> {
  try {
    return await credential;
  } catch (error) {
    if (!(error instanceof AppError) || error instanceof SecretUnreadable) throw error;
    const isRefused = error instanceof NotRenewed && error.isRefusal;
    if (isRefused || error.code === 'connection_not_ready' || error.code === 'connection_not_found') {
      throw Stop.fails('blocked_connection');
    }
    if (error.code === 'provider_disabled') throw Stop.fails('blocked_provider_disabled');
    throw new ModelFailure('model_unreachable', 'The sign-in could not be renewed just now.', { retryable: true });
  }
}

/** @returns undefined when the provider did not accept the credential */
async function callWith(
  { credential, version }: CallCredential,
  deps: AccountCallerDeps,
  input: ModelCall,
  target: Target,
): Promise<ModelResponse | undefined> {
  const { step, provider, runtime, deadline } = target;
  const call = await issue(deps, target, version);
  try {
    input.onSend?.();
    const result = await runtime.client.run({
      lease: call.lease,
      requestId: call.requestId,
      provider: provider.slot,
      fileHash: provider.hash,
      projectId: step.connection.projectId,
      connectionId: step.connection.id,
      credential,
      credentialVersion: version,
      deadline,
      signal: input.signal,
      runId: step.runId,
      step: step.index,
      body: bodyOf(input, step),
    });
    return responseOf(input, result, call, credential.value);
  } catch (error) {
    if (input.signal.aborted) {
      await cancelUnlessWanted(deps, runtime, step.runId, call);
      throw input.signal.reason;
    }
    const failure = await recordFailure({ ...deps, runtime }, step, call, error, input.signal);
    if (failure instanceof ModelFailure && failure.reason === 'model_credential_refused') return undefined;
    throw failure;
  }
}

/**
 * Cancels a call whose run no longer continues. If only the worker stops or loses its step, the call goes on: the next
 * worker asks for the same call.
 */
async function cancelUnlessWanted(
  { database, log }: AccountCallerDeps,
  runtime: ModelRuntime,
  runId: string,
  call: IssuedCall,
): Promise<void> {
  const isWanted = await isStillWanted(database, runId).catch(() => true);
  if (!isWanted) await cancelAtRuntime(runtime, [call], log);
}

/** @throws {Stop} */
async function issue(
  { database, modelProviders }: AccountCallerDeps,
  { step: { connection, runId, index }, runtime, provider, deadline }: Target,
  credentialVersion: number,
): Promise<IssuedCall> {
  const order = {
    connection,
    runId,
    step: index,
    credentialVersion,
    concurrency: provider.file.concurrency,
    deadline,
    wanted: isAwaited({ runId, index }),
  };
  let issued = await issueCall(database, modelProviders, order);
  if (issued.kind === 'unleased') {
    await leaseOrFail(runtime);
    issued = await issueCall(database, modelProviders, order);
  }
  switch (issued.kind) {
    case 'issued':
      return issued.call;
    case 'unusable':
      throw Stop.fails('blocked_connection');
    case 'limited':
      throw Stop.usedUp(issued.until, index === 0);
    case 'unwanted':
      throw Stop.overtaken();
    default:
      throw Stop.waits();
  }
}

async function leaseOrFail(runtime: ModelRuntime): Promise<void> {
  try {
    await runtime.lease();
  } catch (error) {
    throw error instanceof RuntimeUnreachable ? fromUnreachable(error) : error;
  }
}

function bodyOf(input: ModelCall, { tools }: AccountStep): RunBody {
  const { modelId, instructions, messages, maxOutputTokens, resultSchema } = input;
  return {
    modelId,
    instructions,
    // Leave out a message with thinking alone, because some providers refuse it.
    messages: messages.filter(({ content }) => content.length > 0).map((message) => ({ ...message })),
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description: description ?? '',
      inputSchema: { ...inputSchema },
    })),
    maxOutputTokens: maxOutputTokens ?? null,
    ...(resultSchema === undefined ? {} : { resultSchema: { ...resultSchema } }),
  };
}
