import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { useEnter } from '#ui/shell/after-sign-in.ts';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { readInvitation } from '#ui/shell/tokens.ts';
import { confirmedAddress, ResendMail } from '#ui/shell/resend-mail.tsx';

const route = getRouteApi('/sign-up');

export function SignUpPage() {
  const { to } = route.useSearch();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const [sentTo, setSentTo] = useState<string>();
  if (sentTo !== undefined) return <CheckMail email={sentTo} />;
  return (
    <AuthFrame
      title="Create an account"
      description="Recurring research and reports, written by a model, on time."
      footer={
        <>
          Have an account?{' '}
          <TextLink to="/sign-in" search={{ to }}>
            Sign in
          </TextLink>
        </>
      }
    >
      <Await of={config} skeleton={<SkeletonText lines={4} />}>
        {(data) => <SignUp config={data} onSent={setSentTo} to={to} />}
      </Await>
    </AuthFrame>
  );
}

interface SignUpProps {
  readonly config: Shape<'PublicConfig'>;
  readonly to: string | undefined;
  readonly onSent: (email: string) => void;
}

function SignUp({ config, to, onSent }: SignUpProps) {
  const invitation = readInvitation();
  const form = useForm({ defaultValues: { name: '', email: '', password: '' } });
  const signUp = useSend('post', '/auth/sign-up/email', { showsError: true });
  const signIn = useSend('post', '/auth/sign-in/email', { showsError: true });
  const enter = useEnter();
  const { errors } = form.formState;
  if (config.signUp === 'closed') {
    return <EmptyState title="Sign-up is closed">Ask the operator of this service.</EmptyState>;
  }
  if (config.signUp === 'invited' && invitation === undefined) {
    return (
      <EmptyState title="You need an invitation">
        Ask a member of your organization for one, and open the link in the mail.
      </EmptyState>
    );
  }
  const submit = form.handleSubmit(async ({ name, email, password }) => {
    try {
      await signUp.sendAsync({
        body: {
          name,
          email,
          password,
          callbackURL: confirmedAddress(email),
          ...(invitation === undefined ? {} : { invitation }),
        },
      });
      if (config.verifiesAddresses) return onSent(email);
      await signIn.sendAsync({ body: { email, password } });
    } catch (error) {
      showFaults(form, error);
      return undefined;
    }
    return enter(to ?? (invitation === undefined ? '/start' : '/invitations'));
  });
  return (
    <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
      <Field label="Name" error={errors.name?.message}>
        <Input autoComplete="name" {...form.register('name')} />
      </Field>
      <Field label="E-mail address" error={errors.email?.message}>
        <Input type="email" autoComplete="username" {...form.register('email')} />
      </Field>
      <Field label="Password" description="At least ten characters." error={errors.password?.message}>
        <Input type="password" autoComplete="new-password" {...form.register('password')} />
      </Field>
      <FormError message={errors.root?.message} />
      <Button kind="primary" type="submit" busy={form.formState.isSubmitting}>
        Create account
      </Button>
    </form>
  );
}

function CheckMail({ email }: { email: string }) {
  return (
    <AuthFrame
      title="Look into your mailbox"
      description={
        <>
          If <span className="font-medium text-ink">{email}</span> has no account yet, a link to confirm the address is
          on its way. The link is valid for an hour.
        </>
      }
      footer={
        <>
          Done?{' '}
          <TextLink to="/sign-in" search={{ email, to: '/start' }}>
            Sign in
          </TextLink>
        </>
      }
    >
      <ResendMail email={email} tone="info">
        No mail after a minute? Check your spam folder.
      </ResendMail>
    </AuthFrame>
  );
}
