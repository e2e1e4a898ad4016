import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { showFaults, submitTo } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { useHashToken } from '#ui/shell/tokens.ts';

/** Asks for a link. When that link opens the page, with its token after the hash sign, asks for a new password. */
export function ResetPasswordPage() {
  const token = useHashToken();
  return token === '' ? <AskForLink /> : <ChoosePassword token={token} />;
}

function AskForLink() {
  const form = useForm({ defaultValues: { email: '' } });
  const ask = useSend('post', '/auth/request-password-reset', { showsError: true });
  const { errors } = form.formState;
  const submit = submitTo(form, (body) => ask.sendAsync({ body }));
  if (ask.data !== undefined) {
    return (
      <AuthFrame
        title="Look into your mailbox"
        description={`If ${form.getValues('email')} has an account, you get a mail with a link to choose a new password. The link is valid for an hour.`}
        footer={<TextLink to="/sign-in">Back to the sign-in</TextLink>}
      />
    );
  }
  return (
    <AuthFrame
      title="Forgotten password"
      description="We mail you a link with which you choose a new password."
      footer={<TextLink to="/sign-in">Back to the sign-in</TextLink>}
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Field label="E-mail address" error={errors.email?.message}>
          <Input type="email" autoComplete="username" {...form.register('email')} />
        </Field>
        <FormError message={errors.root?.message} />
        <Button kind="primary" type="submit" busy={ask.isSending}>
          Mail me the link
        </Button>
      </form>
    </AuthFrame>
  );
}

function ChoosePassword({ token }: { token: string }) {
  const navigate = useNavigate();
  const form = useForm({ defaultValues: { newPassword: '' } });
  const [endPrograms, setEndPrograms] = useState(false);
  const reset = useSend('post', '/auth/reset-password', { showsError: true });
  const { errors } = form.formState;
  const isSpent = reset.error?.code === 'invalid_token';
  const submit = form.handleSubmit(async ({ newPassword }) => {
    try {
      await reset.sendAsync({ body: { newPassword, token, endPrograms } });
    } catch (error) {
      showFaults(form, error);
      return;
    }
    await navigate({ to: '/sign-in', search: { notice: 'password-changed' } });
  });
  return (
    <AuthFrame
      title="Choose a new password"
      description="Every session of your account then ends."
      footer={
        isSpent ? (
          <TextLink to="/reset-password" reloadDocument>
            Ask for another link
          </TextLink>
        ) : undefined
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Field label="New password" description="At least ten characters." error={errors.newPassword?.message}>
          <Input type="password" autoComplete="new-password" {...form.register('newPassword')} />
        </Field>
        <Checkbox
          label="Also end the access of my programs"
          description="Revokes the API keys that you made, including those of terminals, and disconnects your assistants. Choose this if another person may have used your account."
          checked={endPrograms}
          onChange={setEndPrograms}
        />
        <FormError message={isSpent ? 'This link has been used or is older than an hour.' : errors.root?.message} />
        <Button kind="primary" type="submit" busy={reset.isSending}>
          Change password
        </Button>
      </form>
    </AuthFrame>
  );
}
