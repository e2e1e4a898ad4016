import { useQueryClient } from '@tanstack/react-query';
import { Fingerprint } from 'lucide-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { addPasskey, hasPasskeys } from '#ui/api/passkeys.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Time } from '#ui/parts/time.tsx';
import { deviceOf } from './device.ts';

export interface PasskeysProps {
  readonly passkeys: Shape<'SecondFactor'>['passkeys'];
}

/** Lists the passkeys of the person, who adds and removes them. */
export function Passkeys({ passkeys }: PasskeysProps) {
  const [isAdding, setAdding] = useState(false);
  const remove = useSend('post', '/auth/passkeys/remove', {
    refreshes: ['/auth/second-factor'],
    done: 'Passkey removed',
  });
  return (
    <div className="mt-3 flex flex-col gap-2">
      <h3 className="text-base font-medium text-ink">Passkeys</h3>
      <p className="text-sm text-muted">
        A device or a password manager signs in for you, without the password. They are removed with
        the second factor.
      </p>
      {passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="divide-y divide-line border-y border-line">
          {passkeys.map(({ id, name, createdAt, lastUsedAt }) => (
            <li key={id} className="flex items-center gap-3 py-1.5">
              <Fingerprint aria-hidden className="size-4 shrink-0 text-muted" />
              <span className="min-w-0 grow">
                <span className="block truncate text-base font-medium text-ink">{name}</span>
                <span className="block text-sm text-muted">
                  {lastUsedAt === null ? 'Added ' : 'Last used '}
                  <Time at={lastUsedAt ?? createdAt} as="relative" />
                </span>
              </span>
              <Button
                kind="quiet"
                size="sm"
                busy={remove.isSending}
                onClick={() => remove.send({ body: { id } })}
              >
                Remove<span className="sr-only"> {name}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      {hasPasskeys() && (
        <div>
          <Button onClick={() => setAdding(true)}>Add a passkey</Button>
        </div>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </div>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({ defaultValues: { name: deviceOf(navigator.userAgent) } });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Add a passkey"
      description="Your browser asks where to keep it, and for a PIN or a finger."
      action="Add passkey"
      onSubmit={async ({ name }) => {
        if (!(await addPasskey(name))) {
          form.setError('root', { message: 'Your browser made no passkey.' });
          return;
        }
        toast.done('Passkey added');
        await refresh(client, undefined, ['/auth/second-factor']);
        onClose();
      }}
    >
      <Field label="Name" error={form.formState.errors.name?.message}>
        <Input {...form.register('name')} autoComplete="off" />
      </Field>
    </FormDialog>
  );
}
