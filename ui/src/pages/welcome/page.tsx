import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { submitTo } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession, useSignOut } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { useEnter } from '#ui/shell/after-sign-in.ts';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { DeleteAccountDialog } from '#ui/shell/delete-account.tsx';

/** Greets a person who no longer belongs to any organization. */
export function WelcomePage() {
  const form = useForm({ defaultValues: { name: '' } });
  const enter = useEnter();
  const create = useSend('post', '/v1/organizations', { showsError: true });
  const { errors } = form.formState;
  const submit = submitTo(form, async (body) => {
    const { defaultProject } = await create.sendAsync({ body });
    await enter(`/p/${defaultProject.id}/start`);
  });
  return (
    <AuthFrame
      title="You belong to no organization"
      description="Create an organization, or open the link of an invitation. Routines belong to a project of an organization."
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Field label="Name of the organization" error={errors.name?.message}>
          <Input autoComplete="organization" {...form.register('name')} />
        </Field>
        <FormError message={errors.root?.message} />
        <Button kind="primary" type="submit" busy={create.isSending}>
          Found organization
        </Button>
      </form>
      <WayOut />
    </AuthFrame>
  );
}

/** Offers sign-out and deletion to a person without an organization, who has no settings page. */
function WayOut() {
  const { user } = useSession();
  const signOut = useSignOut();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <div className="mt-4 border-t border-line pt-4">
      <p className="mb-2 text-sm text-muted wrap-anywhere">Signed in as {user.email}.</p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" onClick={() => void signOut()}>
          Sign out
        </Button>
        <Button size="sm" kind="quiet" onClick={() => setDeleting(true)}>
          Delete account
        </Button>
      </div>
      {isDeleting && <DeleteAccountDialog onClose={() => setDeleting(false)} />}
    </div>
  );
}
