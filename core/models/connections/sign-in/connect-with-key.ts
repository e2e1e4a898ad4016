import { createHash } from 'node:crypto';
import type { Actor } from '#core/foundation/audit/index.ts';
import { assertMayBeginSignIn } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { ModelConnection } from '../connection.ts';
import type { AccountsCore } from '../core.ts';
import type { AttemptOwner } from './attempt.ts';
import { SignInFailure } from './failure.ts';
import { checkMayConnect, keepAccount, keyLabel } from './keep.ts';
import { openProvider } from './open-provider.ts';
import { tryCredential } from './try-credential.ts';

const SLOT = 'provider-c';

export interface KeyInput extends AttemptOwner {
  readonly apiKey: string;
  /** The connection that gets the key in place of its present key; null if no connection is named. */
  readonly connectionId: string | null;
  /** Label of the account; by default the end of the key. */
  readonly label: string | null;
  readonly by: Actor;
}

/**
 * Tries a key at its provider and stores it, sealed, when it works: in the given connection, in the connection with the
 * same key, or in a new connection.
 * @throws {AppError} `provider_disabled`, `runtime_unavailable`, `invalid_request` when the provider refuses the key,
 * `provider_error` when the provider could not be asked, `rate_limited`, `limit_reached`, and the errors of
 * `keepAccount`
 */
export async function connectModelAccountWithKey(deps: AccountsCore, input: KeyInput): Promise<ModelConnection> {
  const { provider, runtime } = await openProvider(deps, SLOT);
  const { auth } = provider.file;
  if (auth.kind === 'api_key' && !new RegExp(auth.pattern, 'u').test(input.apiKey)) {
    throw new AppError('invalid_request', 'apiKey: not a key of this provider');
  }
  const { connectionId, projectId } = input;
  await checkMayConnect(deps.database, input, provider, connectionId);
  await assertMayBeginSignIn(deps.database, input.userId, SLOT);
  const credential = { kind: 'api_key', key: input.apiKey } as const;
  const tried = await tryCredential({ runtime, log: deps.log }, { provider, projectId, connectionId }, credential);
  if (tried.verdict === 'unchecked') throw new SignInFailure('not_checked');
  if (tried.verdict === 'rejected') {
    throw new AppError('invalid_request', 'apiKey: the provider does not accept this key');
  }
  return keepAccount(deps, {
    id: newId('modelConnection'),
    connectionId,
    projectId,
    ownerId: input.userId,
    provider,
    // Identify the account by a hash of the key, which does not reveal the key: two equal keys are one account.
    accountId: `sha256:${createHash('sha256').update(input.apiKey).digest('hex')}`,
    accountLabel: input.label ?? keyLabel(provider, input.apiKey),
    credential,
    expiresAt: null,
    tried,
    by: input.by,
  });
}
