import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults, submitTo } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { SESSION_KEY, useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { DeleteAccountDialog } from '#ui/shell/delete-account.tsx';
import { Danger } from '../danger.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** Shows the settings of the person, whichever project is open. */
export function AccountTab() {
  return (
    <>
      <NameForm />
      <EmailForm />
      <PasswordForm />
      <SecondFactor />
      <Sessions />
      <DeleteAccount />
    </>
  );
}

function DeleteAccount() {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section title="Deletion">
      <Danger
        title="Delete your account"
        action={
          <Button className="text-bad-ink!" onClick={() => setAsking(true)}>
            Delete account
          </Button>
        }
      >
        Every session and membership ends, and the API keys that you made are revoked. First hand over or delete
        organizations of which you are the last owner.
      </Danger>
      {isAsking && <DeleteAccountDialog onClose={() => setAsking(false)} />}
    </Section>
  );
}

function NameForm() {
  const { user } = useSession();
  const client = useQueryClient();
  const form = useForm({ values: { name: user.name }, resetOptions: { keepDirtyValues: true } });
  const { errors, isDirty } = form.formState;
  const save = useSend('post', '/auth/update-user', {
    refreshes: ['/v1/organizations'],
    done: 'Name saved',
    showsError: true,
    onDone: () => client.invalidateQueries({ queryKey: SESSION_KEY }),
  });
  const submit = submitTo(form, async (body) => {
    await save.sendAsync({ body });
    form.reset(body);
  });
  return (
    <Section title="Name" description="The name that other people in your organizations see.">
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
        <div className="flex items-end gap-2">
          <Field label="Your name" className="grow" error={errors.name?.message}>
            <Input {...form.register('name')} autoComplete="name" />
          </Field>
          <Button type="submit" busy={save.isSending} disabledReason={isDirty ? undefined : 'Nothing has changed.'}>
            Save name
          </Button>
        </div>
        <FormError message={errors.root?.message} />
      </form>
    </Section>
  );
}

/** Begins a change of the address. Both addresses confirm the change by mail. */
function EmailForm() {
  const { user } = useSession();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const [wanted, setWanted] = useState<string>();
  const form = useForm({ defaultValues: { newEmail: '' } });
  const { errors } = form.formState;
  const change = useSend('post', '/auth/change-email', { showsError: true });
  const submit = submitTo(form, async ({ newEmail }) => {
    await change.sendAsync({ body: { newEmail, callbackURL: '/verified' } });
    setWanted(newEmail);
    form.reset();
  });
  const hasMail = config.data?.verifiesAddresses;
  return (
    <Section
      title="E-mail address"
      description={
        <>
          You sign in with <span className="font-medium text-ink wrap-anywhere">{user.email}</span>.
        </>
      }
    >
      {hasMail === false && (
        <Notice className="max-w-xl">
          The address cannot be changed: without a mail server, a new one cannot be confirmed.
        </Notice>
      )}
      {wanted !== undefined && (
        <Notice tone="good" className="mb-3 max-w-xl">
          Open the link in the mail to {user.email} first, then the link in the mail to {wanted}.
        </Notice>
      )}
      {hasMail === true && (
        <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
          <div className="flex items-end gap-2">
            <Field label="New address" className="grow" error={errors.newEmail?.message}>
              <Input {...form.register('newEmail')} inputMode="email" autoComplete="email" />
            </Field>
            <Button type="submit" busy={change.isSending}>
              Change address
            </Button>
          </div>
          <FormError message={errors.root?.message} />
        </form>
      )}
    </Section>
  );
}

const EMPTY = { currentPassword: '', newPassword: '', revokeOtherSessions: true };

function PasswordForm() {
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
        form.setError('currentPassword', { message: 'This is not your password.' }, { shouldFocus: true });
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
            <Input {...form.register('currentPassword')} type="password" autoComplete="current-password" />
          </Field>
          <Field label="New password" error={errors.newPassword?.message}>
            <Input {...form.register('newPassword')} type="password" autoComplete="new-password" />
          </Field>
        </div>
        <Checkbox
          label="End all other sessions"
          description="Other browsers that are signed in with the old password are signed out."
          checked={useWatch({ control: form.control, name: 'revokeOtherSessions' })}
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
