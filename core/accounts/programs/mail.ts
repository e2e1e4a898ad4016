import { enqueueMail } from '#core/foundation/outbox/index.ts';
import type { Scope } from '#core/accounts/organizations/index.ts';
import type { Db } from '#lib/database/index.ts';

/** Access of a program to a project. */
export interface Access {
  readonly organizationId: string;
  readonly projectId: string;
  readonly scopes: readonly Scope[];
}

/** Access that a person has given to a program. */
interface Approval extends Access {
  readonly userId: string;
  /** Beginning of a sentence that names the program and how the program got access. */
  readonly program: string;
  /** Page of the project where a person can revoke the program's access. */
  readonly page: 'api-keys' | 'settings?tab=assistants';
}

/**
 * Mails a person that a program got access in their name, in the transaction that gives the access: a thief of their
 * session could give access that outlasts the session. No one can unsubscribe from this mail.
 */
export async function mailApproval(tx: Db, approval: Approval): Promise<void> {
  const { organizationId, projectId, userId, program, scopes, page } = approval;
  const project = await tx.row<{ name: string }>`select name from projects where id = ${projectId}`;
  // `runs:write` reads as "write runs".
  const words = scopes.map((scope) => scope.split(':').toReversed().join(' '));
  await enqueueMail(tx, {
    organizationId,
    projectId,
    routineId: null,
    runId: null,
    kind: 'program_approved',
    userIds: [userId],
    content: {
      subject: 'A program was given access in your name',
      lines: [
        `${program} has access to the project "${project?.name ?? ''}", approved from your account: to ${words.join(', ')}.`,
        'If it was not you, revoke the access on this page, change your password, and end your other sessions.',
      ],
      path: `/p/${projectId}/${page}`,
    },
  });
}
