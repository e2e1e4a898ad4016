import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/hooks.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { BeforeConnecting } from './before-connecting.tsx';
import type { ConnectProps } from './connect-props.ts';

/** Takes an API key of a provider; it is sent once and never shown again. */
export function ApiKeyDialog({ provider, account, onClose }: ConnectProps) {
  const form = useForm({ defaultValues: { apiKey: '', accountLabel: '' } });
  const { errors } = form.formState;
  const connect = useSend('post', '/v1/model-connections/provider-c/api-key', {
    refreshes: ['/v1/model-connections', '/v1/models'],
    done: account === undefined ? 'Account connected' : 'Key replaced',
    showsError: true,
  });
  const submit = form.handleSubmit(async ({ apiKey, accountLabel }) => {
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
      showFaults(form, error);
    }
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={
        account === undefined ? `Connect ${provider.name}` : `New key for ${account.accountLabel}`
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="model-key" busy={connect.isSending}>
            {account === undefined ? 'Connect account' : 'Replace key'}
          </Button>
        </>
      }
    >
      <BeforeConnecting provider={provider} />
      <form id="model-key" onSubmit={submit} className="flex flex-col gap-4">
        <Field
          label="API key"
          description="Tried there first, by a request that costs nothing, then stored encrypted. It is never shown again."
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
          <Input
            {...form.register('apiKey')}
            type="password"
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        <Field
          label="Label"
          optional
          description="Everybody in the project sees it; otherwise the end of the key."
          error={errors.accountLabel?.message}
        >
          <Input {...form.register('accountLabel')} autoComplete="off" />
        </Field>
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}
