import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { LeaveDialog, type SignInPage } from '#ui/shell/leave-dialog.tsx';
import { CredentialFields, credentialsOf, NEW_SERVER, type ServerValues } from './credentials.tsx';

const AUTHS = [
  { value: 'none', label: 'Nothing', hint: 'The server needs no credentials, or its key is in the address.' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'headers', label: 'Headers', hint: 'Such as X-Api-Key.' },
  { value: 'oauth', label: 'Sign-in', hint: 'By OAuth, on a page of the server.' },
] as const;

/** Connects the user's own tool server by its address. */
export function ConnectServerDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm({ defaultValues: NEW_SERVER });
  const { errors } = form.formState;
  const create = useSend('post', '/v1/connections', {
    refreshes: ['/v1/connections'],
    showsError: true,
  });
  const signIn = useSend('post', '/v1/connections/oauth/{provider}/start', { showsError: true });
  const [page, setPage] = useState<SignInPage>();
  const auth = useWatch({ control: form.control, name: 'auth' });
  const close = () => {
    setPage(undefined);
    form.reset();
    onClose();
  };
  const submit = async (values: ServerValues) => {
    if (values.auth === 'oauth') {
      setPage(await signIn.sendAsync(signInOf(values)));
      return;
    }
    const { name, url } = values;
    const { id } = await create.sendAsync({ body: { name, url, ...credentialsOf(values) } });
    close();
    const params = { projectId, connectionId: id };
    await navigate({ to: '/p/$projectId/connections/$connectionId', params });
  };
  if (page !== undefined) return <LeaveDialog page={page} onClose={close} />;
  return (
    <FormDialog
      open={open}
      onClose={close}
      size="md"
      title="Connect a tool server"
      description="Any server that speaks MCP over Streamable HTTP. The server is asked before anything is stored."
      form={form}
      onSubmit={submit}
      action={auth === 'oauth' ? 'Go to sign-in' : 'Connect server'}
    >
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
      <Field label="The server asks for">
        <Select
          options={AUTHS}
          value={auth}
          onChange={(value) => form.setValue('auth', value, { shouldDirty: true })}
        />
      </Field>
      <CredentialFields form={form} />
    </FormDialog>
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
