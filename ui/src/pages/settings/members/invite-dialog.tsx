import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
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
  const submit = async (body: typeof NEW) => {
    const made = await invite.sendAsync({ path: { organizationId }, body });
    close();
    onInvited(made);
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      title="Invite a person"
      description="An earlier invitation of the same address is replaced."
      form={form}
      onSubmit={submit}
      action="Invite"
    >
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
    </FormDialog>
  );
}
