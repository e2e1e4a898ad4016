import { useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { call } from '#ui/api/call.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { Time } from '#ui/parts/time.tsx';
import { LeaveDialog } from '#ui/shell/leave-dialog.tsx';
import { BeforeConnecting, type ConnectProps } from './providers.tsx';

/**
 * Sends the browser to the provider's sign-in. If the sign-in ends at an address where no server listens, the person
 * enters the address here.
 */
export function SignInDialog({ provider, account, onClose }: ConnectProps) {
  const [started, setStarted] = useState<Shape<'StartedModelSignIn'>>();
  const start = useSend('post', '/v1/model-connections/provider-b/oauth/start', {
    showsError: true,
    onDone: setStarted,
  });
  if (started?.redirect === 'callback') return <LeaveDialog page={started} onClose={onClose} />;
  if (started !== undefined) {
    return <PasteDialog provider={provider} started={started} onClose={onClose} />;
  }
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={account === undefined ? `Connect ${provider.name}` : `Sign in to ${account.accountLabel} again`}
      description={`You sign in at ${provider.name}. This service never sees your password.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={start.isSending}
            onClick={() => start.send({ body: account === undefined ? {} : { connectionId: account.id } })}
          >
            Continue to {provider.name}
          </Button>
        </>
      }
    >
      <BeforeConnecting provider={provider} />
      <FormError message={errorInWords(start.error)} />
    </Dialog>
  );
}

interface PasteProps extends Pick<ConnectProps, 'provider' | 'onClose'> {
  readonly started: Shape<'StartedModelSignIn'>;
}

function PasteDialog({ provider, started, onClose }: PasteProps) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const form = useForm({ defaultValues: { address: '' } });
  const { errors } = form.formState;
  const submit = async ({ address }: { address: string }) => {
    await call(
      'get',
      '/v1/model-connections/provider-b/oauth/callback',
      { query: { address: address.trim() } },
      { projectId },
    );
    toast.done('Account connected');
    onClose();
    await refresh(client, projectId, ['/v1/model-connections', '/v1/models']);
  };
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      locked
      title={`Sign in at ${provider.name}`}
      form={form}
      onSubmit={submit}
      action="Connect account"
    >
      <ol className="flex list-decimal flex-col gap-4 pl-5 text-base text-ink">
        <li>
          <p>
            Open the sign-in page at {started.host} and agree there. The sign-in expires{' '}
            <Time at={started.expiresAt} as="countdown" />.
          </p>
          <Button
            icon={ExternalLink}
            className="mt-2"
            onClick={() => window.open(started.authorizationUrl, '_blank', 'noopener')}
          >
            Open sign-in page
          </Button>
        </li>
        <li>
          <p>
            Your browser will end at an address that begins with{' '}
            <code className="font-mono text-sm wrap-anywhere">{started.redirectUri}</code> and show an error. The error
            is expected: copy the whole address.
          </p>
        </li>
        <li>
          <Field label="Paste the address here" error={errors.address?.message}>
            <Textarea {...form.register('address')} mono rows={3} autoComplete="off" spellCheck={false} />
          </Field>
        </li>
      </ol>
    </FormDialog>
  );
}
