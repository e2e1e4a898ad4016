import { enqueueMail } from '#core/foundation/outbox/index.ts';
import type { Scope } from '#core/accounts/organizations/index.ts';
import type { Db } from '#lib/database/index.ts';

/** Access that a person has given to a program. */
interface Approval {
  readonly organizationId: string;
  readonly projectId: string;
  readonly userId: string;
  /** The program and how it got in, as the beginning of a sentence. */
  readonly program: string;
  readonly scopes: readonly Scope[];
  /** The page of the project on which a person takes it back. */
  readonly page: 'api-keys' | 'settings?tab=assistants';
}

/**
 * Mails a person that a program was let in in their name, in the transaction that lets it in: a thief of their session
 * would have let it in too, and it stays when the session ends. There is no unsubscribing from it.
 */
export async function mailApproval(tx: Db, approval: Approval): Promise<void> {
  const { organizationId, projectId, userId, program, scopes, page } = approval;
  const project = await tx.row<{ name: string }>`select name from projects where id = ${projectId}`;
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
        `${program} has access to the project "${project?.name ?? ''}", approved from your account: to ${scopes.map(inWords).join(', ')}.`,
        'If it was not you, take the access back on this page, change your password, and end your other sessions.',
      ],
      path: `/p/${projectId}/${page}`,
    },
  });
}

/** Words a scope: `runs:read` is to read runs. */
function inWords(scope: Scope): string {
  const [what, action] = scope.split(':');
  return `${action} ${what}`;
}
