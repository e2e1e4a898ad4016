import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { LeaveDialog, type SignInPage } from '#ui/shell/leave-dialog.tsx';

export interface ConnectProviderProps {
  readonly provider: Shape<'ConnectionProvider'>;
  /** Connection that gets a new sign-in or a new key; left out for a new connection. */
  readonly connection?: Shape<'Connection'>;
  readonly onClose: () => void;
}

/** Connects a provider by a sign-in or by an API key. */
export function ConnectProviderDialog({ provider, connection, onClose }: ConnectProviderProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm({ defaultValues: { name: connection?.name ?? provider.name, apiKey: '' } });
  const { errors } = form.formState;
  const signIn = useSend('post', '/v1/connections/oauth/{provider}/start', { showsError: true });
  const withKey = useSend('post', '/v1/connections/api-key/{provider}', {
    refreshes: ['/v1/connections'],
    done: connection === undefined ? `${provider.name} connected` : 'Key replaced',
    showsError: true,
  });
  const [page, setPage] = useState<SignInPage>();
  const isKey = provider.auth === 'api_key';
  const submit = async ({ name, apiKey }: { name: string; apiKey: string }) => {
    const target = connection === undefined ? { name } : { connectionId: connection.id };
    const path = { provider: provider.id };
    try {
      if (!isKey) {
        setPage(await signIn.sendAsync({ path, body: target }));
        return;
      }
      const { id } = await withKey.sendAsync({ path, body: { ...target, apiKey } });
      onClose();
      const params = { projectId, connectionId: id };
      await navigate({ to: '/p/$projectId/connections/$connectionId', params });
    } catch (error) {
      form.resetField('apiKey');
      throw error;
    }
  };
  if (page !== undefined) return <LeaveDialog page={page} onClose={onClose} />;
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={connection === undefined ? `Connect ${provider.name}` : `Reconnect ${connection.name}`}
      description={
        isKey
          ? 'The key is first tried at the provider, then stored encrypted. It is never shown again.'
          : `You go to ${provider.name}, choose the account, and come back here.`
      }
      form={form}
      onSubmit={submit}
      action={isKey ? 'Connect' : `Go to ${provider.name}`}
    >
      {connection === undefined && (
        <Field label="Name" error={errors.name?.message}>
          <Input {...form.register('name')} autoComplete="off" />
        </Field>
      )}
      {isKey && (
        <Field label="API key" error={errors.apiKey?.message}>
          <Input {...form.register('apiKey')} type="password" autoComplete="off" />
        </Field>
      )}
      {provider.scopes.length > 0 && <Scopes scopes={provider.scopes} />}
      <Links provider={provider} />
    </FormDialog>
  );
}

function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  return (
    <div className="text-sm">
      <p className="font-medium text-ink">The provider asks for</p>
      <ul className="mt-1 flex flex-col gap-0.5 font-mono text-xs text-muted">
        {scopes.map((scope) => (
          <li key={scope} className="wrap-anywhere">
            {scope}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Links({ provider }: { readonly provider: Shape<'ConnectionProvider'> }) {
  const links = [
    ...(provider.keyPage === null ? [] : [[provider.keyPage, 'Where to make a key'] as const]),
    [provider.documentation, `About the tools of ${provider.name}`] as const,
  ];
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
      {links.map(([href, label]) => (
        <li key={href}>
          <a
            href={href}
            target="_blank"
            rel="noreferrer noopener"
            className="rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline"
          >
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}
