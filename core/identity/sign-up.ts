import type { Db } from '#lib/database/index.ts';
import { isInvited } from './invitations.ts';

/** Lists who may sign up: anybody, people with an invitation, or nobody. */
export const SIGN_UP_MODES = ['open', 'invited', 'closed'] as const;

export type SignUpMode = (typeof SIGN_UP_MODES)[number];

/**
 * Returns the reason why somebody may not sign up; undefined when they may. It depends on no account, so it reveals
 * none.
 */
export async function signUpRefusal(
  db: Db,
  mode: SignUpMode,
  { email, invitation }: { email: string; invitation: string | undefined },
): Promise<'sign_up_closed' | 'invitation_required' | undefined> {
  if (mode === 'open') return undefined;
  if (mode === 'closed') return 'sign_up_closed';
  const invited = invitation !== undefined && (await isInvited(db, email, invitation));
  return invited ? undefined : 'invitation_required';
}
