import { useState, type ReactNode } from 'react';
import { useForm } from 'react-hook-form';
import { ApiError } from '#ui/api/error.ts';
import { showFaults } from '#ui/api/form.ts';
import { hasPasskeys, askForPasskey } from '#ui/api/passkeys.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { ResendMail } from './resend-mail.tsx';
import { factorBody, FactorField, type FactorValues } from './second-factor/factor-field.tsx';

interface SignInProps {
  /** The person's e-mail address, if it is known already. */
  readonly email?: string | undefined;
  readonly notice?: ReactNode;
  readonly footer?: ReactNode;
  /** True if the form covers a page that has to stay open. Links then open a new tab. */
  readonly covers?: boolean;
  readonly onSignedIn: () => Promise<void>;
}

/** Signs a person in: by password, with the second factor if they have one, or by passkey. */
export function SignIn({ email, notice, footer, covers = false, onSignedIn }: SignInProps) {
  const form = useForm({ defaultValues: { email: email ?? '', password: '' } });
  const signIn = useSend('post', '/auth/sign-in/email', { showsError: true });
  const { errors } = form.formState;
  const isUnconfirmed = signIn.error?.code === 'email_not_verified';
  const [needsFactor, setNeedsFactor] = useState(false);
  const submit = form.handleSubmit(async (body) => {
    try {
      const signedIn = await signIn.sendAsync({ body });
      if ('secondFactorRequired' in signedIn) {
        setNeedsFactor(true);
        return;
      }
    } catch (error) {
      showFaults(form, error);
      return;
    }
    await onSignedIn();
  });
  const passkeySignIn = useSend('post', '/auth/sign-in/passkey', { showsError: true });
  const signInByPasskey = async () => {
    try {
      const passkey = await askForPasskey();
      if (passkey === undefined) return;
      await passkeySignIn.sendAsync({ body: { passkey } });
    } catch (error) {
      showFaults(form, error);
      return;
    }
    await onSignedIn();
  };
  if (needsFactor) {
    const startOver = () => {
      setNeedsFactor(false);
      form.resetField('password');
    };
    return <FactorStep onSignedIn={onSignedIn} onStartOver={startOver} />;
  }
  return (
    <AuthFrame title="Sign in" footer={footer}>
      {notice !== undefined && <Notice>{notice}</Notice>}
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Field label="E-mail address" error={errors.email?.message}>
          <Input
            type="email"
            autoComplete="username"
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the page is for this field
            autoFocus={email === undefined}
            {...form.register('email')}
          />
        </Field>
        <Field
          label="Password"
          error={errors.password?.message}
          aside={
            <TextLink to="/reset-password" target={covers ? '_blank' : '_self'}>
              Forgotten?
            </TextLink>
          }
        >
          <Input
            type="password"
            autoComplete="current-password"
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the only field that is left to fill in
            autoFocus={email !== undefined}
            {...form.register('password')}
          />
        </Field>
        <FormError message={isUnconfirmed ? undefined : errors.root?.message} />
        {isUnconfirmed && (
          <ResendMail email={form.getValues('email')} tone="warn">
            Confirm your address first: open the link in the mail that we have sent to {form.getValues('email')}.
          </ResendMail>
        )}
        <Button kind="primary" type="submit" busy={signIn.isSending}>
          Sign in
        </Button>
        {hasPasskeys() && (
          <Button busy={passkeySignIn.isSending} onClick={() => void signInByPasskey()}>
            Use a passkey
          </Button>
        )}
      </form>
    </AuthFrame>
  );
}

interface FactorStepProps {
  readonly onSignedIn: () => Promise<void>;
  readonly onStartOver: () => void;
}

/** Asks for the second factor once the password was right. */
function FactorStep({ onSignedIn, onStartOver }: FactorStepProps) {
  const form = useForm<FactorValues>({ defaultValues: { code: '' } });
  const signIn = useSend('post', '/auth/sign-in/second-factor', { showsError: true });
  const submit = form.handleSubmit(async ({ code }) => {
    try {
      await signIn.sendAsync({ body: factorBody(code) });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_code') {
        form.setError('code', { message: error.message }, { shouldFocus: true });
      } else showFaults(form, error);
      return;
    }
    await onSignedIn();
  });
  return (
    <AuthFrame
      title="Enter your code"
      description="Your password was right. Your account has a second factor."
      footer={
        <button
          type="button"
          className="rounded-sm text-accent-ink underline-offset-2 hover:underline"
          onClick={onStartOver}
        >
          Start again
        </button>
      }
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <FactorField form={form} />
        <FormError message={form.formState.errors.root?.message} />
        <Button kind="primary" type="submit" busy={signIn.isSending}>
          Sign in
        </Button>
      </form>
    </AuthFrame>
  );
}
