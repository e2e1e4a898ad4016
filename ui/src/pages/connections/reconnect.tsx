import { useForm } from 'react-hook-form';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { LeaveDialog } from '#ui/shell/leave-dialog.tsx';
import { ConnectProviderDialog } from './connect-provider.tsx';
import { CredentialFields, credentialsOf, NEW_SERVER, type ServerValues } from './credentials.tsx';

type Connection = Shape<'Connection'>;

export interface ReconnectProps {
  readonly connection: Connection;
  readonly provider: Shape<'ConnectionProvider'> | undefined;
  readonly onClose: () => void;
}

/** Replaces the credentials of a connection in the same way in which it was connected. */
export default function Reconnect({ connection, provider, onClose }: ReconnectProps) {
  if (provider !== undefined) {
    return <ConnectProviderDialog provider={provider} connection={connection} onClose={onClose} />;
  }
  return connection.auth === 'oauth' ? (
    <SignInAgain connection={connection} onClose={onClose} />
  ) : (
    <ReplaceCredentials connection={connection} onClose={onClose} />
  );
}

function SignInAgain({ connection, onClose }: Omit<ReconnectProps, 'provider'>) {
  const signIn = useSend('post', '/v1/connections/oauth/{provider}/start', {
    showsError: true,
  });
  if (signIn.data !== undefined) return <LeaveDialog page={signIn.data} onClose={onClose} />;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      kind="primary"
      title={`Sign in to ${connection.name} again?`}
      description="You go to the sign-in page and come back here. Confirmed tools stay confirmed."
      action="Go to sign-in"
      busy={signIn.isSending}
      error={errorInWords(signIn.error)}
      onConfirm={() => signIn.send({ path: { provider: 'tool-server' }, body: { connectionId: connection.id } })}
    />
  );
}

function ReplaceCredentials({ connection, onClose }: Omit<ReconnectProps, 'provider'>) {
  const auth = connection.auth === 'headers' ? ('headers' as const) : ('bearer' as const);
  const form = useForm<ServerValues>({ defaultValues: { ...NEW_SERVER, auth } });
  const replace = useSend('patch', '/v1/connections/{connectionId}', {
    refreshes: ['/v1/connections'],
    done: 'Credentials replaced',
    showsError: true,
  });
  const submit = async (values: ServerValues) => {
    await replace.sendAsync({
      path: { connectionId: connection.id },
      body: credentialsOf({ ...values, auth }),
    });
    onClose();
  };
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={`New credentials for ${connection.name}`}
      description="The server is asked first; nothing changes unless it accepts the credentials. Confirmed tools stay confirmed."
      form={form}
      onSubmit={submit}
      action="Replace credentials"
    >
      <CredentialFields form={form} />
    </FormDialog>
  );
}
