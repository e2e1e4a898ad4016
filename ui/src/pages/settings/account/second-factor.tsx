import { lazy, Suspense, useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import { RecoveryCodes } from '#ui/shell/second-factor/recovery-codes.tsx';

import { Passkeys } from './passkeys.tsx';

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
      <Await
        of={factor}
        skeleton={<SkeletonRows rows={1} />}
        errorTitle="The second factor could not be read"
      >
        {({ confirmedAt, recoveryCodesLeft, passkeys }) =>
          confirmedAt === null ? (
            <Button onClick={() => setOpen('add')}>Add a second factor</Button>
          ) : (
            <div className="flex max-w-xl flex-col gap-3">
              <p className="flex flex-wrap items-center gap-2 text-base text-muted">
                <Badge tone="good">On</Badge>
                <span>
                  Since <Time at={confirmedAt} as="relative" />,{' '}
                  {plural(recoveryCodesLeft, 'recovery code')} left.
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
        description="From then on your password alone signs you in. Your passkeys are removed too. Organizations that demand a second factor are closed to you until you add one again."
        action="Remove second factor"
        busy={remove.isSending}
        onConfirm={() => remove.send({ body: {} })}
      />
    </Section>
  );
}
