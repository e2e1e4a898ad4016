import { APIError } from 'better-auth/api';
import { z } from 'zod';
import type { Actor } from '#core/audit/index.ts';
import { transaction } from '#lib/database/index.ts';
import { CLIENT_ADDRESS_HEADER, type AuthSettings } from '../auth-options.ts';
import { acceptGuess, assertMayGuess, guessByPerson } from '../guesses.ts';
import { useSecondFactor, type FactorProof } from './store.ts';
import { FACTOR_MAILS, recordFactorEvent, type FactorEvent } from './told.ts';

export const factorProof = z.object({
  code: z.string().optional(),
  recoveryCode: z.string().optional(),
});

/** A person as the library hands them over. */
export interface FactorOwner {
  readonly id: string;
  readonly email: string;
}

/** Checks second factors, and mails and logs what happens to them. */
export function createFactorCheck({ database, secrets, mails, log }: AuthSettings) {
  /** Tells the person by mail and the operator by a line of the log. */
  async function tell({ id, email }: FactorOwner, event: FactorEvent): Promise<void> {
    log?.info({ userId: id, event }, 'auth: a second factor changed, or was recovered');
    await mails?.factorEvent(email, FACTOR_MAILS[event]);
  }

  /** Uses up a code or a recovery code. Returns false for a wrong one, which counts against the account. */
  async function accept(
    user: FactorOwner,
    given: FactorProof,
    headers: Headers | undefined,
  ): Promise<boolean> {
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
