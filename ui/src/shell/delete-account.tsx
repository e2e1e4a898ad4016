import { useForm } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

/** Asks for the password before an account is deleted for good. */
export function DeleteAccountDialog({ onClose }: { readonly onClose: () => void }) {
  const { user } = useSession();
  const form = useForm({ defaultValues: { password: '' } });
  const { errors } = form.formState;
  const remove = useSend('post', '/auth/delete-user', {
    showsError: true,
    // Load a new document, so that nothing of the account stays in memory.
    onDone: () => location.assign('/sign-in'),
  });
  const submit = form.handleSubmit(async (body) => {
    try {
      await remove.sendAsync({ body });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_password') {
        form.setError('password', { message: 'This is not your password.' }, { shouldFocus: true });
      } else showFaults(form, error);
    }
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delete your account?"
      description={`The account ${user.email} is deleted for good. Your routines and other work in organizations stay there.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" type="submit" form="delete-account" busy={remove.isSending}>
            Delete account
          </Button>
        </>
      }
    >
      <form id="delete-account" onSubmit={submit} className="flex flex-col gap-4">
        <input type="text" autoComplete="username" value={user.email} readOnly hidden />
        <Field label="Your password, to confirm" error={errors.password?.message}>
          <Input {...form.register('password')} type="password" autoComplete="current-password" />
        </Field>
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}
