import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { ApiError } from '#ui/api/error.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Select } from '#ui/parts/select.tsx';
import { toast } from '#ui/api/toast.ts';
import type { Member } from './roles.ts';

export interface HandOverProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly organizationId: string;
  /** Members other than the person themselves. */
  readonly members: readonly Member[];
}

/** Makes another member the owner, and the former owner an admin. */
export function HandOverDialog({ open, onClose, organizationId, members }: HandOverProps) {
  const { user } = useSession();
  const [chosenId, setChosenId] = useState<string>();
  const [error, setError] = useState<string>();
  const change = useSend('patch', '/v1/organizations/{organizationId}/members/{userId}', {
    refreshes: ['/v1/organizations'],
    showsError: true,
  });
  const chosen = members.find(({ userId }) => userId === chosenId);
  const close = () => {
    setChosenId(undefined);
    setError(undefined);
    onClose();
  };
  const handOver = async ({ userId, name }: Member) => {
    try {
      // The new owner is made first, so that there is an owner at every moment.
      await change.sendAsync({ path: { organizationId, userId }, body: { role: 'owner' } });
      await change.sendAsync({
        path: { organizationId, userId: user.id },
        body: { role: 'admin' },
      });
      toast.done(`${name} is the owner now`);
      close();
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      setError(errorInWords(fault));
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Hand over ownership"
      description="The member that you choose becomes owner, and you become admin. Only an owner can reverse this."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="danger"
            busy={change.isSending}
            disabledReason={chosen === undefined ? 'Choose a member first.' : undefined}
            onClick={() => {
              if (chosen !== undefined) void handOver(chosen);
            }}
          >
            Hand over
          </Button>
        </>
      }
    >
      <Field label="New owner">
        <Select
          options={members.map(({ userId, name, email }) => ({
            value: userId,
            label: name,
            hint: email,
          }))}
          value={chosenId ?? null}
          onChange={setChosenId}
          placeholder="Choose a member"
        />
      </Field>
      <FormError message={error} />
    </Dialog>
  );
}
