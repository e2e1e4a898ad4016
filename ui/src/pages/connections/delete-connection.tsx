import { errorInWords } from '#ui/api/form.ts';
import { useList } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';

export interface DeleteConnectionProps {
  readonly connection: Shape<'Connection'>;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks for the name before a connection is deleted, and says what ends with it. */
export function DeleteConnection({ connection, open, onClose, onDeleted }: DeleteConnectionProps) {
  const using = useList('/v1/routines', { query: { uses: connection.id, limit: 50 } });
  const remove = useSend('delete', '/v1/connections/{connectionId}', {
    refreshes: ['/v1/connections', '/v1/routines'],
    done: ({ draftedRoutineIds: { length } }) =>
      length === 0
        ? 'Connection deleted'
        : `Connection deleted; ${plural(length, 'routine')} went back to draft`,
    onDone: onDeleted,
    showsError: true,
  });
  const names = using.data?.map(({ name }) => name);
  return (
    <ConfirmByNameDialog
      open={open}
      onClose={onClose}
      name={connection.name}
      title={`Delete ${connection.name}?`}
      description={
        connection.auth === 'oauth'
          ? 'Its sign-in is taken back at the provider, where that can be done, and erased here.'
          : 'Its credentials are erased. This cannot be undone.'
      }
      action="Delete connection"
      busy={remove.isSending}
      error={errorInWords(remove.error)}
      onConfirm={() => remove.send({ path: { connectionId: connection.id } })}
    >
      {names !== undefined && names.length > 0 && (
        <div className="text-base text-ink">
          <p>
            {names.length === 1
              ? 'This routine may call its tools, and goes back to draft:'
              : 'These routines may call its tools, and go back to draft:'}
          </p>
          <ul className="mt-1 list-disc pl-5 text-muted">
            {names.slice(0, 5).map((name, index) => (
              <li key={index} className="wrap-anywhere">
                {name}
              </li>
            ))}
            {names.length > 5 && (
              <li>{using.hasMore ? 'and more' : `and ${names.length - 5} more`}</li>
            )}
          </ul>
        </div>
      )}
    </ConfirmByNameDialog>
  );
}
