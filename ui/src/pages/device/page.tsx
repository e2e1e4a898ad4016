import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import type { ApiError } from '#ui/api/error.ts';
import { useRead } from '#ui/api/read.ts';
import { useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { errorInWords } from '#ui/api/form.ts';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { Approve, type Decision } from './approve.tsx';

const route = getRouteApi('/account/device');

/** Lets a person decide about the terminal that shows a code (RFC 8628). */
export function DevicePage() {
  const { user_code: userCode } = route.useSearch();
  return userCode === undefined ? <EnterCode /> : <Terminal key={userCode} userCode={userCode} />;
}

function EnterCode({ error }: { readonly error?: string }) {
  const navigate = useNavigate();
  const form = useForm({ defaultValues: { code: '' } });
  const submit = form.handleSubmit(({ code }) => {
    const typed = code.trim();
    if (typed !== '') return navigate({ to: '/device', search: { user_code: typed } });
    form.setError('code', { message: 'Type the code that your terminal shows.' });
    return undefined;
  });
  return (
    <AuthFrame
      title="Sign in a terminal"
      description="Type the code that your terminal shows. The code is valid for ten minutes."
      footer={<SignedInAs />}
    >
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <Field label="Code" error={form.formState.errors.code?.message ?? error}>
          <Input
            {...form.register('code')}
            className="font-mono uppercase placeholder:normal-case"
            placeholder="ABCD-EFGH"
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the page is for this field
            autoFocus
          />
        </Field>
        <Button kind="primary" type="submit">
          Go on
        </Button>
      </form>
    </AuthFrame>
  );
}

function Terminal({ userCode }: { readonly userCode: string }) {
  const [decision, setDecision] = useState<Decision>();
  const terminal = useRead(
    '/v1/terminal-sign-ins/{userCode}',
    { path: { userCode } },
    // Look a code up only once, because the API counts wrong ones.
    { staleMs: Number.POSITIVE_INFINITY, enabled: decision === undefined },
  );
  if (decision !== undefined) return <Decided decision={decision} />;
  if (terminal.error !== null) return <NotFound error={terminal.error} />;
  if (terminal.data === undefined) {
    return (
      <AuthFrame title="Sign in a terminal">
        <div aria-busy="true">
          <SkeletonText />
        </div>
      </AuthFrame>
    );
  }
  return <Approve terminal={terminal.data} userCode={userCode} onDecided={setDecision} />;
}

function NotFound({ error }: { readonly error: ApiError }) {
  switch (error.code) {
    case 'attempt_not_found':
      return <EnterCode error="No terminal waits with this code. The code is mistyped, or was used." />;
    case 'attempt_expired':
      return (
        <AuthFrame
          title="This code has expired"
          description="A code is valid for ten minutes. Start the sign-in in your terminal again, and use the new code."
          footer={<TextLink to="/device">Enter another code</TextLink>}
        />
      );
    default:
      return (
        <AuthFrame
          title="The code could not be looked up"
          footer={<TextLink to="/device">Enter another code</TextLink>}
        >
          <FormError message={errorInWords(error)} />
        </AuthFrame>
      );
  }
}

function Decided({ decision }: { readonly decision: Decision }) {
  const { host, project } = decision;
  return project === undefined ? (
    <AuthFrame
      title="Denied"
      description={`${host} gets no key, and a message that you refused it. You can close this page.`}
      footer={<TextLink to="/">Go to your routines</TextLink>}
    />
  ) : (
    <AuthFrame
      title="Your terminal is signed in"
      description={
        <>
          Go back to it: it continues by itself in a few seconds. Its key is among the API keys of {project.name} as{' '}
          <span className="font-medium text-ink">{host}</span>, where you can revoke it.
        </>
      }
      footer={
        <TextLink to="/p/$projectId/api-keys" params={{ projectId: project.id }}>
          See the API keys
        </TextLink>
      }
    />
  );
}

function SignedInAs() {
  const { user } = useSession();
  return <>Signed in as {user.email}.</>;
}
