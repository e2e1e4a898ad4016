import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { plural } from '#ui/format/numbers.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import type { Organization } from '../of-organization.tsx';
import type { Member } from './roles.ts';

export interface EndSessionsDialogProps {
  readonly member: Member | undefined;
  readonly organization: Organization;
  readonly onClose: () => void;
}

/** Asks before a member is signed out everywhere. */
export function EndSessionsDialog({ member, organization, onClose }: EndSessionsDialogProps) {
  const end = useSend('delete', '/v1/organizations/{organizationId}/members/{userId}/sessions', {
    done: ({ ended }) => `${plural(ended, 'session')} ended`,
    showsError: true,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={member !== undefined}
      onClose={() => {
        end.reset();
        onClose();
      }}
      title={`Sign ${member?.name ?? 'the member'} out?`}
      description="Every session of theirs ends with its next request, in other organizations too, and they sign in again. Their API keys go on."
      action="End sessions"
      busy={end.isSending}
      error={errorInWords(end.error)}
      onConfirm={() => {
        if (member === undefined) return;
        end.send({ path: { organizationId: organization.id, userId: member.userId } });
      }}
    />
  );
}
