import { ShowOnce } from '#ui/parts/copy.tsx';
import type { NewInvitation } from './roles.ts';

export interface InvitationLinkProps {
  /** The invitation whose link is shown; undefined while none is. */
  readonly invitation: NewInvitation | undefined;
  readonly onClose: () => void;
}

/** Shows the link of an invitation once, where there is no mail server to send it. */
export function InvitationLink({ invitation, onClose }: InvitationLinkProps) {
  const token = invitation?.token ?? '';
  return (
    <ShowOnce
      open={invitation !== undefined}
      onClose={onClose}
      title="Hand over this link"
      description={`This service sends no mail. Give the link to ${invitation?.email ?? 'them'} yourself: it cannot be shown again, and works for that address only.`}
      secret={`${location.origin}/invitations#${token}`}
      secretLabel="link of the invitation"
    />
  );
}
