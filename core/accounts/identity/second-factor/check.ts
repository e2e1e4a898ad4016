import { APIError } from 'better-auth/api';
import { z } from 'zod';
import { recordAudit, SYSTEM, type Actor, type AuditAction } from '#core/foundation/audit/index.ts';
import { organizationsOf } from '#core/accounts/organizations/index.ts';
import { transaction, type Db } from '#lib/database/index.ts';
import { CLIENT_ADDRESS_HEADER, type AuthSettings } from '../auth-options.ts';
import { acceptGuess, assertMayGuess, guessByPerson } from '../guesses.ts';
import { removeSecondFactor, useSecondFactor, type FactorProof } from './store.ts';

export const factorProof = z.object({
  code: z.string().optional(),
  recoveryCode: z.string().optional(),
});

/** A person in the form that the library passes. */
export interface FactorOwner {
  readonly id: string;
  readonly email: string;
}

/** Checks second factors, and mails and logs changes to them. */
export function createFactorCheck({ database, secrets, mails, log }: AuthSettings) {
  /** Informs the person by mail and the operator by a line of the log. */
  async function tell({ id, email }: FactorOwner, event: FactorEvent): Promise<void> {
    log?.info({ userId: id, event }, 'auth: a second factor changed, or was recovered');
    await mails?.factorEvent(email, FACTOR_MAILS[event]);
  }

  /** Uses up a code or a recovery code. Returns false for a wrong code, which counts against the account. */
  async function accept(user: FactorOwner, given: FactorProof, headers: Headers | undefined): Promise<boolean> {
    const guess = guessByPerson('second-factor', user.id);
    await assertMayGuess(database, guess);
    const used = await transaction(database, async (tx) => {
      const kind = await useSecondFactor(tx, secrets, user.id, given);
      if (kind === 'recovery_code') {
        const event = { action: 'member.recovery_code_used', userId: user.id } as const;
        await recordFactorEvent(tx, actorOf(user, headers), event);
      }
      return kind;
    });
    if (used === undefined) return false;
    await acceptGuess(database, guess);
    if (used === 'recovery_code') await tell(user, 'member.recovery_code_used');
    return true;
  }

  return { accept, tell };
}

export function actorOf({ id }: FactorOwner, headers: Headers | undefined): Actor {
  return { kind: 'person', id, address: headers?.get(CLIENT_ADDRESS_HEADER) ?? null };
}

export function noFactor(): APIError {
  return new APIError('NOT_FOUND', {
    code: 'second_factor_not_found',
    message: 'You have no second factor.',
  });
}

/** Changes of a person's sign-in. */
export type FactorEvent = Extract<AuditAction, `member.${'second_factor' | 'recovery' | 'passkey'}_${string}`>;

/** Records a change of a person's second factor in each of their organizations. */
export async function recordFactorEvent(
  tx: Db,
  by: Actor,
  { action, userId }: { action: FactorEvent; userId: string },
): Promise<void> {
  for (const organizationId of await organizationsOf(tx, userId)) {
    await recordAudit(tx, { organizationId, by, action, targetId: userId });
  }
}

const FACTOR_MAILS: Readonly<Record<FactorEvent, { subject: string; text: string }>> = {
  'member.second_factor_added': {
    subject: 'A second factor was added to your account',
    text: 'From now on, you need a code of your authenticator or a recovery code to sign in.',
  },
  'member.second_factor_removed': {
    subject: 'The second factor of your account was removed',
    text: 'From now on your password alone signs you in. Your passkeys are removed too.',
  },
  'member.recovery_code_used': {
    subject: 'A recovery code of your account was used',
    text: 'The code is used up. Make new recovery codes in your settings before they run out.',
  },
  'member.recovery_codes_replaced': {
    subject: 'The recovery codes of your account were replaced',
    text: 'The earlier codes no longer work.',
  },
  'member.passkey_added': {
    subject: 'A passkey was added to your account',
    text: 'The passkey signs in to your account without the password.',
  },
  'member.passkey_removed': {
    subject: 'A passkey of your account was removed',
    text: 'The passkey can no longer sign in.',
  },
};

/**
 * Removes the second factor of a person who has lost it together with the recovery codes, and ends their sessions. The
 * operator has verified the person.
 * @returns true if the person had a second factor; undefined when no account has this address
 */
export async function freeAccount(tx: Db, email: string): Promise<boolean | undefined> {
  const user = await tx.row<{
    id: string;
  }>`select id from users where email = ${email.toLowerCase()} for update`;
  if (user === undefined) return undefined;
  const removed = await removeSecondFactor(tx, user.id);
  if (removed) {
    const event = { action: 'member.second_factor_removed', userId: user.id } as const;
    await recordFactorEvent(tx, SYSTEM, event);
    await tx.run`delete from sessions where user_id = ${user.id}`;
  }
  return removed;
}
