import { useForm } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';

const EMPTY = { currentPassword: '', newPassword: '', revokeOtherSessions: true };

export function PasswordForm() {
  const { user } = useSession();
  const form = useForm({ defaultValues: EMPTY });
  const { errors } = form.formState;
  const change = useSend('post', '/auth/change-password', {
    refreshes: ['/v1/sessions'],
    done: 'Password changed',
    showsError: true,
  });
  const submit = form.handleSubmit(async (body) => {
    try {
      await change.sendAsync({ body });
      form.reset();
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_password') {
        form.setError(
          'currentPassword',
          { message: 'This is not your password.' },
          { shouldFocus: true },
        );
      } else showFaults(form, error);
    }
  });
  return (
    <Section title="Password" description="At least ten characters.">
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-4">
        {/* Password managers keep the password under this name. */}
        <input type="text" autoComplete="username" value={user.email} readOnly hidden />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Present password" error={errors.currentPassword?.message}>
            <Input
              {...form.register('currentPassword')}
              type="password"
              autoComplete="current-password"
            />
          </Field>
          <Field label="New password" error={errors.newPassword?.message}>
            <Input {...form.register('newPassword')} type="password" autoComplete="new-password" />
          </Field>
        </div>
        <Checkbox
          label="End all other sessions"
          description="Other browsers that are signed in with the old password are signed out."
          checked={form.watch('revokeOtherSessions')}
          onChange={(on) => form.setValue('revokeOtherSessions', on)}
        />
        <FormError message={errors.root?.message} />
        <div>
          <Button type="submit" busy={change.isSending}>
            Change password
          </Button>
        </div>
      </form>
    </Section>
  );
}
