import { Plus, X } from 'lucide-react';
import { useFieldArray, useWatch, type UseFormReturn } from 'react-hook-form';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

export type ServerAuth = 'none' | 'bearer' | 'headers' | 'oauth';

export interface ServerValues {
  name: string;
  url: string;
  auth: ServerAuth;
  bearerToken: string;
  headers: { name: string; value: string }[];
  clientId: string;
  clientSecret: string;
}

export const NEW_SERVER: ServerValues = {
  name: '',
  url: '',
  auth: 'none',
  bearerToken: '',
  headers: [{ name: '', value: '' }],
  clientId: '',
  clientSecret: '',
};

/** Makes the body of a request from the fields of the chosen kind of credentials. */
export function credentialsOf({ auth, bearerToken, headers }: ServerValues) {
  if (auth === 'bearer') return { bearerToken };
  if (auth !== 'headers') return {};
  const typed = headers.filter(({ name, value }) => name !== '' || value !== '');
  return { headers: Object.fromEntries(typed.map(({ name, value }) => [name, value])) };
}

/** Shows fields for credentials, which are sent once and never shown again. */
export function CredentialFields({ form }: { readonly form: UseFormReturn<ServerValues> }) {
  const auth = useWatch({ control: form.control, name: 'auth' });
  if (auth === 'bearer') {
    return (
      <Field
        label="Token"
        description="Sent as Authorization: Bearer. It is stored encrypted and never shown again."
        error={form.formState.errors.bearerToken?.message}
      >
        <Input {...form.register('bearerToken')} type="password" autoComplete="off" />
      </Field>
    );
  }
  if (auth === 'headers') return <HeaderFields form={form} />;
  return auth === 'oauth' ? <ClientFields form={form} /> : null;
}

function HeaderFields({ form }: { readonly form: UseFormReturn<ServerValues> }) {
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'headers' });
  const error = form.formState.errors.headers;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium text-ink">Headers</legend>
      <p className="-mt-1 text-sm text-muted">
        Sent with every request. The values are stored encrypted and never shown again.
      </p>
      {fields.map(({ id }, index) => (
        <div key={id} className="flex items-center gap-2">
          <Input
            {...form.register(`headers.${index}.name`)}
            aria-label={`Name of header ${index + 1}`}
            placeholder="X-Api-Key"
            autoComplete="off"
          />
          <Input
            {...form.register(`headers.${index}.value`)}
            type="password"
            aria-label={`Value of header ${index + 1}`}
            autoComplete="off"
          />
          <IconButton
            icon={X}
            label={`Remove header ${index + 1}`}
            disabledReason={fields.length === 1 ? 'At least one header.' : undefined}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      {error?.message !== undefined && (
        <p role="alert" className="text-sm text-bad-ink">
          {error.message}
        </p>
      )}
      <Button size="sm" icon={Plus} className="self-start" onClick={() => append({ name: '', value: '' })}>
        Add header
      </Button>
    </fieldset>
  );
}

function ClientFields({ form }: { readonly form: UseFormReturn<ServerValues> }) {
  const { errors } = form.formState;
  return (
    <>
      <p className="text-sm text-muted">
        You go to the sign-in page of the server and come back here. Most servers need nothing more; some require a
        client that you have registered with them.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Client id" optional error={errors.clientId?.message}>
          <Input {...form.register('clientId')} autoComplete="off" />
        </Field>
        <Field label="Client secret" optional error={errors.clientSecret?.message}>
          <Input {...form.register('clientSecret')} type="password" autoComplete="off" />
        </Field>
      </div>
    </>
  );
}
