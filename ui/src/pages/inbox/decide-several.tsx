import { useState } from 'react';
import { useForm } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { APPROVE_ALL, REJECT_ALL } from '#ui/api/verbs/actions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Arguments } from './arguments.tsx';

type Action = Shape<'Action'>;
type Verdict = Shape<'ActionVerdict'>;

export interface Several {
  readonly kind: 'approve' | 'reject';
  readonly actions: readonly Action[];
}

interface DecideSeveralProps extends Several {
  readonly onDecided: (actions: readonly Action[]) => void;
  readonly onClose: () => void;
}

/** Decides about several calls at once. Shows each call whole, and then the result of each. */
export default function DecideSeveral({ kind, actions, onDecided, onClose }: DecideSeveralProps) {
  const form = useForm({ defaultValues: { reason: '' } });
  const approve = useVerb(APPROVE_ALL, { showsError: true });
  const reject = useVerb(REJECT_ALL, { showsError: true });
  const [verdicts, setVerdicts] = useState<readonly Verdict[]>();
  const calls = plural(actions.length, 'call');
  const inTheirOrder = actions.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  if (verdicts !== undefined) {
    const refused = verdicts.filter(({ error }) => error !== null).length;
    return (
      <Dialog
        open
        onClose={onClose}
        size="lg"
        title={refused === 0 ? `${calls} decided` : `${refused} of ${calls} refused`}
        actions={
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Calls actions={inTheirOrder} verdicts={verdicts} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      size="lg"
      title={kind === 'approve' ? `Approve ${calls}?` : `Reject ${calls}?`}
      description={
        kind === 'approve'
          ? 'The calls are sent in this order. If a call fails, calls that use its result are not sent.'
          : 'The calls are never sent.'
      }
      action={kind === 'approve' ? `Approve ${calls}` : `Reject ${calls}`}
      kind={kind === 'approve' ? 'primary' : 'danger'}
      onSubmit={async ({ reason }) => {
        const note = reason.trim() === '' ? null : reason;
        const decided = await (kind === 'approve' ? approve.actAsync({ actions }) : reject.actAsync({ actions, note }));
        setVerdicts(decided);
        onDecided(decided.flatMap(({ action }) => action ?? []));
      }}
    >
      {kind === 'reject' && (
        <Field label="Why" optional description="Later runs of the routine get this reason.">
          <Textarea rows={2} maxLength={2_000} {...form.register('reason')} />
        </Field>
      )}
      <Calls actions={inTheirOrder} verdicts={[]} />
    </FormDialog>
  );
}

interface CallsProps {
  readonly actions: readonly Action[];
  readonly verdicts: readonly Verdict[];
}

function Calls({ actions, verdicts }: CallsProps) {
  return (
    <ol className="flex flex-col gap-4">
      {actions.map((action) => {
        const verdict = verdicts.find(({ id }) => id === action.id);
        return (
          <li key={action.id}>
            <p className="mb-1.5 flex flex-wrap items-center gap-2">
              <code className="font-mono text-sm font-medium text-ink wrap-anywhere">{drawn(action.toolName)}</code>
              <span className="text-sm text-muted">
                on {drawn(action.connectionName)}
                {action.account !== null && ` as ${drawn(action.account)}`}
              </span>
              {verdict?.action != null && <StateBadge state={verdict.action.state} />}
            </p>
            {verdict?.error != null && (
              <p role="alert" className="mb-1.5 text-sm text-bad-ink">
                {verdict.error.message}
              </p>
            )}
            {verdict === undefined && <Arguments action={action} />}
          </li>
        );
      })}
    </ol>
  );
}
