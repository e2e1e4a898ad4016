import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { BeforeConnecting, type ConnectProps } from './providers.tsx';

const NEW = { apiKey: '', accountLabel: '' };

/** Takes an API key of a provider; it is sent once and never shown again. */
export function ApiKeyDialog({ provider, account, onClose }: ConnectProps) {
  const form = useForm({ defaultValues: NEW });
  const { errors } = form.formState;
  const connect = useSend('post', '/v1/model-connections/provider-c/api-key', {
    refreshes: ['/v1/model-connections', '/v1/models'],
    done: account === undefined ? 'Account connected' : 'Key replaced',
    showsError: true,
  });
  const submit = async ({ apiKey, accountLabel }: typeof NEW) => {
    const body = {
      apiKey,
      ...(accountLabel === '' ? {} : { accountLabel }),
      ...(account === undefined ? {} : { connectionId: account.id }),
    };
    try {
      await connect.sendAsync({ body });
      onClose();
    } catch (error) {
      form.resetField('apiKey');
      throw error;
    }
  };
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={account === undefined ? `Connect ${provider.name}` : `New key for ${account.accountLabel}`}
      form={form}
      onSubmit={submit}
      action={account === undefined ? 'Connect account' : 'Replace key'}
    >
      <BeforeConnecting provider={provider} />
      <Field
        label="API key"
        description="The key is first tried at the provider, by a request that costs nothing, then stored encrypted. It is never shown again."
        error={errors.apiKey?.message}
        aside={
          provider.keyPage !== null && (
            <a
              href={provider.keyPage}
              target="_blank"
              rel="noreferrer noopener"
              className="rounded-sm font-medium text-accent-ink underline-offset-2 hover:underline"
            >
              Make a key
            </a>
          )
        }
      >
        <Input {...form.register('apiKey')} type="password" autoComplete="off" spellCheck={false} />
      </Field>
      <Field
        label="Label"
        optional
        description="Everybody in the project sees this label. Without one, they see the end of the key."
        error={errors.accountLabel?.message}
      >
        <Input {...form.register('accountLabel')} autoComplete="off" />
      </Field>
    </FormDialog>
  );
}
