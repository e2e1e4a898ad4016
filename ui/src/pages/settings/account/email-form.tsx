import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';

/** Begins a change of the address, which both addresses confirm by mail. */
export function EmailForm() {
  const { user } = useSession();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const [wanted, setWanted] = useState<string>();
  const form = useForm({ defaultValues: { newEmail: '' } });
  const { errors } = form.formState;
  const change = useSend('post', '/auth/change-email', { showsError: true });
  const submit = form.handleSubmit(async ({ newEmail }) => {
    try {
      await change.sendAsync({ body: { newEmail, callbackURL: '/verified' } });
      setWanted(newEmail);
      form.reset();
    } catch (error) {
      showFaults(form, error);
    }
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
          It cannot be changed here: this service has no mail server to confirm one.
        </Notice>
      )}
      {wanted !== undefined && (
        <Notice tone="good" className="mb-3 max-w-xl">
          Open the link in the mail to {user.email} first, then the one in the mail to {wanted}.
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
