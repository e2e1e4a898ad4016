import { errorInWords } from '#ui/api/form.ts';
import { useList } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';

/** Asks before an account is revoked, and says which routines that stops. */
export function RevokeDialog({
  account,
  onClose,
}: {
  readonly account: Shape<'ModelConnection'>;
  readonly onClose: () => void;
}) {
  const using = useList('/v1/routines', { query: { uses: account.id, limit: 50 } });
  const revoke = useSend('post', '/v1/model-connections/{connectionId}/revoke', {
    refreshes: ['/v1/model-connections', '/v1/models', '/v1/routines'],
    done: 'Account revoked',
    onDone: onClose,
    showsError: true,
  });
  const active = using.data?.filter(({ state }) => state === 'active');
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Revoke ${account.accountLabel}?`}
      description={
        <>
          <p>
            {pauses(
              active?.map(({ name }) => name),
              using.hasMore,
            )}
          </p>
          <p className="mt-2">
            Runs that are under way cannot call it any more. Its credential is taken back at{' '}
            {account.providerName} where that can be done, and erased here. To use it again, connect
            it again.
          </p>
        </>
      }
      action="Revoke account"
      busy={revoke.isSending}
      error={errorInWords(revoke.error)}
      onConfirm={() => revoke.send({ path: { connectionId: account.id } })}
    />
  );
}

function pauses(active: readonly string[] | undefined, hasMore: boolean): string {
  if (active === undefined) return 'Active routines that run on it pause.';
  if (active.length === 0) return 'No active routine runs on it.';
  if (active.length > 3 || hasMore) {
    return `${plural(active.length, 'routine')}${hasMore ? ' or more' : ''} that run on it pause.`;
  }
  const names = new Intl.ListFormat('en').format(active);
  return `${names} ${active.length === 1 ? 'runs' : 'run'} on it and ${active.length === 1 ? 'pauses' : 'pause'}.`;
}
