import { useQueryClient } from '@tanstack/react-query';
import { Fingerprint } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useForm } from 'react-hook-form';
import { addPasskey, hasPasskeys } from '#ui/api/passkeys.ts';
import { useRead } from '#ui/api/read.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import { RecoveryCodes } from '#ui/shell/second-factor/recovery-codes.tsx';
import { deviceOf } from './sessions.tsx';

const AddDialog = lazy(() => import('#ui/shell/second-factor/add-dialog.tsx'));

const FEW_CODES = 3;

/** Shows the second factor of the person: to add it, to replace its recovery codes and to remove it. */
export function SecondFactor() {
  const factor = useRead('/auth/second-factor', {});
  const [open, setOpen] = useState<'add' | 'remove'>();
  const [codes, setCodes] = useState<readonly string[]>();
  const close = () => setOpen(undefined);
  const replace = useSend('post', '/auth/second-factor/recovery-codes', {
    refreshes: ['/auth/second-factor'],
    onDone: ({ recoveryCodes }) => setCodes(recoveryCodes),
  });
  const remove = useSend('post', '/auth/second-factor/remove', {
    refreshes: ['/auth/second-factor'],
    done: 'Second factor removed',
    onDone: close,
  });
  return (
    <Section
      title="Second factor"
      description="A code of an authenticator app beside your password, when you sign in and before you change access."
    >
      <Await of={factor} skeleton={<SkeletonRows rows={1} />} errorTitle="The second factor could not be read">
        {({ confirmedAt, recoveryCodesLeft, passkeys }) =>
          confirmedAt === null ? (
            <Button onClick={() => setOpen('add')}>Add a second factor</Button>
          ) : (
            <div className="flex max-w-xl flex-col gap-3">
              <p className="flex flex-wrap items-center gap-2 text-base text-muted">
                <Badge tone="good">On</Badge>
                <span>
                  Since <Time at={confirmedAt} as="relative" />, {plural(recoveryCodesLeft, 'recovery code')} left.
                </span>
              </p>
              {recoveryCodesLeft < FEW_CODES && (
                <Notice tone="warn">Make new recovery codes before they run out.</Notice>
              )}
              <div className="flex flex-wrap gap-2">
                <Button busy={replace.isSending} onClick={() => replace.send({ body: {} })}>
                  New recovery codes
                </Button>
                <Button className="text-bad-ink!" onClick={() => setOpen('remove')}>
                  Remove
                </Button>
              </div>
              <Passkeys passkeys={passkeys} />
            </div>
          )
        }
      </Await>
      <Suspense>{open === 'add' && <AddDialog onClose={close} />}</Suspense>
      {codes !== undefined && <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />}
      <ConfirmDialog
        open={open === 'remove'}
        onClose={close}
        title="Remove your second factor?"
        description="Afterwards your password alone signs you in. Your passkeys are removed too. Organizations that require a second factor are closed to you until you add one again."
        action="Remove second factor"
        busy={remove.isSending}
        onConfirm={() => remove.send({ body: {} })}
      />
    </Section>
  );
}

interface PasskeysProps {
  readonly passkeys: Shape<'SecondFactor'>['passkeys'];
}

function Passkeys({ passkeys }: PasskeysProps) {
  const [isAdding, setAdding] = useState(false);
  const remove = useSend('post', '/auth/passkeys/remove', {
    refreshes: ['/auth/second-factor'],
    done: 'Passkey removed',
  });
  return (
    <div className="mt-3 flex flex-col gap-2">
      <h3 className="text-base font-medium text-ink">Passkeys</h3>
      <p className="text-sm text-muted">
        A device or password manager signs you in without the password. Passkeys end with the second factor.
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
              <Button kind="quiet" size="sm" busy={remove.isSending} onClick={() => remove.send({ body: { id } })}>
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
      description="Your browser asks where to keep the passkey, and for a PIN or a fingerprint."
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
