import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/hooks.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { ROLES, type NewInvitation } from './roles.ts';

export interface InviteProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly organizationId: string;
  readonly onInvited: (invitation: NewInvitation) => void;
}

const NEW: { email: string; role: NewInvitation['role'] } = { email: '', role: 'member' };

const OPTIONS = ROLES.flatMap(({ value, label, hint }) =>
  value === 'owner' ? [] : [{ value, label, description: hint }],
).toReversed();

export function InviteDialog({ open, onClose, organizationId, onInvited }: InviteProps) {
  const form = useForm({ defaultValues: NEW });
  const { errors } = form.formState;
  const invite = useSend('post', '/v1/organizations/{organizationId}/invitations', {
    refreshes: ['/v1/organizations'],
    showsError: true,
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const submit = form.handleSubmit(async (body) => {
    try {
      const made = await invite.sendAsync({ path: { organizationId }, body });
      close();
      onInvited(made);
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Invite somebody"
      description="An earlier invitation of the same address is replaced."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" form="invite" busy={invite.isSending}>
            Invite
          </Button>
        </>
      }
    >
      <form id="invite" onSubmit={submit} className="flex flex-col gap-4">
        <Field label="E-mail address" error={errors.email?.message}>
          <Input
            {...form.register('email')}
            inputMode="email"
            autoComplete="off"
            placeholder="grace@example.com"
          />
        </Field>
        <RadioCards
          label="Role"
          options={OPTIONS}
          value={form.watch('role')}
          onChange={(role) => form.setValue('role', role)}
        />
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}
