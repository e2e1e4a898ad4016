import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/hooks.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

/** Gives a connection another name; routines keep what they may call. */
export function RenameDialog({
  connection,
  onClose,
}: {
  readonly connection: Shape<'Connection'>;
  readonly onClose: () => void;
}) {
  const form = useForm({ defaultValues: { name: connection.name } });
  const { errors } = form.formState;
  const rename = useSend('patch', '/v1/connections/{connectionId}', {
    refreshes: ['/v1/connections'],
    done: 'Connection renamed',
    showsError: true,
  });
  const submit = form.handleSubmit(async (body) => {
    try {
      await rename.sendAsync({ path: { connectionId: connection.id }, body });
      onClose();
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rename connection"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="rename" busy={rename.isSending}>
            Rename
          </Button>
        </>
      }
    >
      <form id="rename" onSubmit={submit} className="flex flex-col gap-4">
        <Field label="Name" error={errors.name?.message}>
          <Input {...form.register('name')} autoComplete="off" />
        </Field>
        <FormError message={errors.root?.message} />
      </form>
    </Dialog>
  );
}
