import { useNavigate } from '@tanstack/react-router';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/hooks.ts';
import { useProjectId } from '#ui/api/project.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { leaveFor } from '#ui/shell/last-project.ts';
import { CredentialFields, credentialsOf, NEW_SERVER, type ServerValues } from './credentials.tsx';

const AUTHS = [
  { value: 'none', label: 'Nothing', hint: 'The server is open, or its key is in the address.' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'headers', label: 'Headers', hint: 'Such as X-Api-Key.' },
  { value: 'oauth', label: 'Sign-in', hint: 'By OAuth, on a page of the server.' },
] as const;

/** Connects a tool server of one's own by its address. */
export function ConnectServerDialog({
  open,
  onClose,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm({ defaultValues: NEW_SERVER });
  const { errors } = form.formState;
  const create = useSend('post', '/v1/connections', {
    refreshes: ['/v1/connections'],
    showsError: true,
  });
  const signIn = useSend('post', '/v1/connections/oauth/{provider}/start', { showsError: true });
  const auth = form.watch('auth');
  const close = () => {
    form.reset();
    onClose();
  };
  const submit = form.handleSubmit(async (values) => {
    try {
      if (values.auth === 'oauth') {
        const started = await signIn.sendAsync(signInOf(values));
        leaveFor(started.authorizationUrl);
        return;
      }
      const { name, url } = values;
      const { id } = await create.sendAsync({ body: { name, url, ...credentialsOf(values) } });
      close();
      const params = { projectId, connectionId: id };
      await navigate({ to: '/p/$projectId/connections/$connectionId', params });
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Dialog
      open={open}
      onClose={close}
      size="md"
      title="Connect a tool server"
      description="Any server that speaks MCP over Streamable HTTP. It is asked before anything is kept."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form="connect-server"
            busy={create.isSending || signIn.isSending}
          >
            {auth === 'oauth' ? 'Go to sign-in' : 'Connect server'}
          </Button>
        </>
      }
    >
      <form id="connect-server" onSubmit={submit} className="flex flex-col gap-4">
        <Field label="Name" error={errors.name?.message}>
          <Input {...form.register('name')} placeholder="Analytics tools" autoComplete="off" />
        </Field>
        <Field label="Address" error={errors.url?.message}>
          <Input
            {...form.register('url')}
            inputMode="url"
            placeholder="https://tools.example.com/mcp"
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        <Field label="It asks for">
          <Select
            options={AUTHS}
            value={auth}
            onChange={(value) => form.setValue('auth', value, { shouldDirty: true })}
          />
        </Field>
        <CredentialFields form={form} />
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}

function signInOf({ name, url, clientId, clientSecret }: ServerValues) {
  return {
    path: { provider: 'tool-server' },
    body: {
      name,
      url,
      ...(clientId === '' ? {} : { clientId }),
      ...(clientSecret === '' ? {} : { clientSecret }),
    },
  };
}
