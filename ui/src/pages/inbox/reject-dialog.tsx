import { useForm } from 'react-hook-form';
import type { Shape } from '#ui/api/types.ts';
import { REJECT } from '#ui/api/verbs/actions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Textarea } from '#ui/parts/input.tsx';

type Action = Shape<'Action'>;

interface RejectProps {
  readonly call: Action;
  readonly onClose: () => void;
  readonly onDecided: (action: Action) => void;
}

/** Asks why a call is rejected, and rejects it. */
export default function RejectDialog({ call, onClose, onDecided }: RejectProps) {
  const form = useForm({ defaultValues: { reason: '' } });
  const reject = useVerb(REJECT);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      {...REJECT.question(call)}
      kind="danger"
      onSubmit={async ({ reason }) => {
        onDecided(await reject.actAsync({ ...call, note: reason.trim() === '' ? null : reason }));
        onClose();
      }}
    >
      <Field
        label="Why"
        optional
        description="Later runs of the routine get this reason."
        error={form.formState.errors.reason?.message}
      >
        <Textarea rows={3} maxLength={2_000} {...form.register('reason')} />
      </Field>
    </FormDialog>
  );
}
