import { useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useEffect, useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Time } from '#ui/parts/time.tsx';
import { BeforeConnecting, type ConnectProps } from './providers.tsx';

type Attempt = Shape<'DeviceSignIn'>;

/** Shows a code that the person enters at the provider, and waits until the provider has accepted the code. */
export function DeviceCodeDialog({ provider, account, onClose }: ConnectProps) {
  const start = useSend('post', '/v1/model-connections/provider-a/device/start', {
    showsError: true,
  });
  const attempt = useAttempt(start.data);
  const cancel = useSend('post', '/v1/model-connections/provider-a/device/{attemptId}/cancel', {
    onDone: onClose,
  });
  const begin = () => start.send({ body: account === undefined ? {} : { connectionId: account.id } });
  const close = () => {
    if (attempt?.state === 'pending') cancel.send({ path: { attemptId: attempt.attemptId } });
    else onClose();
  };
  return (
    <Dialog
      open
      onClose={close}
      locked={attempt?.state === 'pending'}
      size="md"
      title={account === undefined ? `Connect ${provider.name}` : `Sign in to ${account.accountLabel} again`}
      description={attempt === undefined ? INTRODUCTION : undefined}
      actions={
        attempt?.state === 'succeeded' ? (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button busy={cancel.isSending} onClick={close}>
              Cancel
            </Button>
            <Button
              kind={attempt?.state === 'pending' ? 'secondary' : 'primary'}
              busy={start.isSending}
              onClick={begin}
            >
              {attempt === undefined ? 'Get a code' : 'New code'}
            </Button>
          </>
        )
      }
    >
      {attempt === undefined ? (
        <BeforeConnecting provider={provider} />
      ) : (
        <Stage attempt={attempt} name={provider.name} />
      )}
      <FormError message={errorInWords(start.error)} />
    </Dialog>
  );
}

const INTRODUCTION =
  'You get a code here and type it on a page of the provider. This service never sees your password.';

/** Polls the attempt, as often as the provider allows. */
function useAttempt(started: Attempt | undefined): Attempt | undefined {
  const projectId = useProjectId();
  const client = useQueryClient();
  const [endedId, setEndedId] = useState<string>();
  const polled = useRead(
    '/v1/model-connections/provider-a/device/{attemptId}',
    { path: { attemptId: started?.attemptId ?? '' } },
    {
      enabled: started !== undefined && started.attemptId !== endedId,
      everyMs: (started?.intervalSeconds ?? 5) * 1_000,
    },
  );
  const attempt = polled.data ?? started;
  const isDone = attempt?.state === 'succeeded';
  if (attempt !== undefined && attempt.state !== 'pending' && attempt.attemptId !== endedId) {
    setEndedId(attempt.attemptId);
  }
  useEffect(() => {
    if (isDone) void refresh(client, projectId, ['/v1/model-connections', '/v1/models']);
  }, [isDone, client, projectId]);
  return attempt;
}

function Stage({ attempt, name }: { readonly attempt: Attempt; readonly name: string }) {
  switch (attempt.state) {
    case 'pending':
      return <Code attempt={attempt} name={name} />;
    case 'succeeded':
      return (
        <div role="status">
          <Notice tone="good">The account is connected. Choose a model of this account when you edit a routine.</Notice>
        </div>
      );
    default:
      return (
        <div role="alert">
          <Notice tone="warn">{ENDS[attempt.state](attempt, name)}</Notice>
        </div>
      );
  }
}

const ENDS: Readonly<
  Record<Exclude<Attempt['state'], 'pending' | 'succeeded'>, (attempt: Attempt, name: string) => string>
> = {
  denied: (_, name) => `Access was refused at ${name}. Get a new code to try again.`,
  expired: () => 'The code has expired. Get a new code.',
  cancelled: () => 'This sign-in was cancelled, or you have begun another one since.',
  failed: ({ error }) => error?.message ?? 'The sign-in failed. Get a new code to try again.',
};

function Code({ attempt, name }: { readonly attempt: Attempt; readonly name: string }) {
  const { userCode, verificationUri, verificationUriComplete, expiresAt } = attempt;
  const address = verificationUriComplete ?? verificationUri ?? '';
  const copyAndOpen = () => {
    // Open the page even if the browser does not let the code be copied.
    void navigator.clipboard.writeText(userCode ?? '').catch(() => undefined);
    window.open(address, '_blank', 'noopener');
  };
  return (
    <div className="flex flex-col items-center gap-4 py-2 text-center">
      <p className="text-base text-muted">
        Type this code in at <span className="font-medium text-ink wrap-anywhere">{verificationUri}</span>
      </p>
      <output
        aria-label="Code"
        className="rounded-lg border border-line bg-sunken px-5 py-3 font-mono text-[2rem] leading-10 font-semibold tracking-[0.12em] text-ink select-all max-sm:text-xl"
      >
        {userCode}
      </output>
      <Button kind="primary" icon={ExternalLink} onClick={copyAndOpen}>
        Copy and open {name}
      </Button>
      <p role="status" className="text-sm text-muted">
        Waiting for you to type the code there. It expires <Time at={expiresAt} as="countdown" />.
      </p>
    </div>
  );
}
