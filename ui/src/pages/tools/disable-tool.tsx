import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';

/** Asks before a tool is taken from a routine, as that returns the routine to draft. */
export function DisableTool({
  policy,
  onClose,
}: {
  readonly policy: Shape<'ToolPolicy'> | undefined;
  readonly onClose: () => void;
}) {
  const disable = useSend('patch', '/v1/routines/{routineId}/tools/{policyId}', {
    refreshes: ['/v1/routines'],
    done: 'Tool disabled',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={policy !== undefined}
      onClose={onClose}
      title={`Disable ${policy?.name ?? 'tool'}?`}
      description="Runs of this routine cannot call it any more, from their next call on. The routine goes back to draft."
      action="Disable tool"
      busy={disable.isSending}
      onConfirm={() => {
        if (policy === undefined) return;
        const { routineId, id } = policy;
        disable.send({ path: { routineId, policyId: id }, body: { state: 'disabled' } });
      }}
    />
  );
}
