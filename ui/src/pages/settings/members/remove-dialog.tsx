import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { Organization } from '../of-organization.tsx';
import type { Member } from './roles.ts';

export interface RemoveDialogProps {
  readonly member: Member | undefined;
  readonly organization: Organization;
  readonly onClose: () => void;
}

/** Asks before a person leaves or is removed. */
export function RemoveDialog({ member, organization, onClose }: RemoveDialogProps) {
  const { user } = useSession();
  const [keepsKeys, setKeepsKeys] = useState(false);
  const isSelf = member?.userId === user.id;
  const close = () => {
    setKeepsKeys(false);
    remove.reset();
    onClose();
  };
  const remove = useSend('delete', '/v1/organizations/{organizationId}/members/{userId}', {
    refreshes: ['/v1/organizations', '/v1/projects'],
    done: ({ name, revokedKeys, connections }) =>
      isSelf
        ? `You left ${organization.name}`
        : [
            `${name} was removed`,
            ...(revokedKeys.length === 0 ? [] : [`revoked: ${namesOf(revokedKeys)}`]),
            ...(connections.length === 0 ? [] : [`to be signed in to again: ${namesOf(connections)}`]),
          ].join('; '),
    showsError: true,
    onDone: () => {
      // Load a new document, so that nothing of the organization stays in memory.
      if (isSelf) location.assign('/');
      else close();
    },
  });
  return (
    <Dialog
      open={member !== undefined}
      onClose={close}
      title={isSelf ? `Leave ${organization.name}?` : `Remove ${member?.name ?? 'the member'}?`}
      description={
        isSelf
          ? 'You lose access at once. Your own model accounts are signed out of the organization’s projects, and another member has to sign in to the connections that you signed in to. Only a member who stays can invite you again.'
          : 'This member loses access with the next request. The member’s own model accounts are signed out, and another member has to sign in to the connections that this member signed in to. Routines and runs stay.'
      }
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="danger"
            busy={remove.isSending}
            onClick={() => {
              if (member === undefined) return;
              remove.send({
                path: { organizationId: organization.id, userId: member.userId },
                query: { keepKeys: keepsKeys ? 'true' : 'false' },
              });
            }}
          >
            {isSelf ? 'Leave organization' : 'Remove member'}
          </Button>
        </>
      }
    >
      {organization.role === 'owner' ? (
        <Checkbox
          label={isSelf ? 'Keep the API keys that you made' : 'Keep the API keys that this member made'}
          description="Otherwise the keys are revoked."
          checked={keepsKeys}
          onChange={setKeepsKeys}
        />
      ) : (
        <p className="text-sm text-muted">The API keys that {isSelf ? 'you' : 'this member'} made are revoked.</p>
      )}
      <FormError message={errorInWords(remove.error)} />
    </Dialog>
  );
}

function namesOf(things: readonly { readonly name: string }[]): string {
  return things.map(({ name }) => name).join(', ');
}
