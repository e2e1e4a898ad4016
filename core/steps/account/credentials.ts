import {
  markNotReady,
  type CallCredential,
  type ModelCredentials,
} from '#core/model-connections/index.ts';
import type { Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { AccountStep } from '../model-call.ts';
import { ModelFailure } from '../model-failure.ts';
import { Stop } from '../stop.ts';

interface CredentialDeps {
  readonly database: Database;
  readonly modelCredentials: ModelCredentials;
}

/** @throws {ModelFailure} {Stop} */
export function readCredential(
  { modelCredentials }: CredentialDeps,
  { connection }: AccountStep,
  deadline: number,
  signal: AbortSignal,
): Promise<CallCredential> {
  return understood(() => modelCredentials.forCall(connection, { deadline, signal }));
}

/** Renews a credential that the provider refused. @throws {ModelFailure} when there is no other, {Stop} */
export async function renewRefused(
  { modelCredentials }: CredentialDeps,
  { connection }: AccountStep,
  { version }: CallCredential,
  signal: AbortSignal,
): Promise<CallCredential> {
  const renewed = await understood(() => modelCredentials.refused(connection, version, signal));
  if (renewed === undefined) throw credentialRefused();
  return renewed;
}

/** Gives up on an account whose renewed credential is refused too: its owner has to sign in again. */
export async function giveUpAccount(
  { database }: CredentialDeps,
  { connection }: AccountStep,
  { version }: CallCredential,
): Promise<ModelFailure> {
  await markNotReady(database, connection, version, 'authorization_revoked');
  return credentialRefused();
}

function credentialRefused(): ModelFailure {
  return new ModelFailure('model_credential_refused', 'The provider refused the credential.', {
    retryable: false,
  });
}

async function understood<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'connection_not_ready' || error.code === 'connection_not_found') {
      throw Stop.fails('blocked_connection');
    }
    if (error.code === 'provider_disabled') throw Stop.fails('blocked_provider_disabled');
    throw new ModelFailure('model_unreachable', 'The sign-in could not be renewed just now.', {
      retryable: true,
    });
  }
}
