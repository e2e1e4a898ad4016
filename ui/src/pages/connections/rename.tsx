import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';

/** Renames a connection. Routines keep their tools. */
export default function RenameDialog({
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
  const submit = async (body: { name: string }) => {
    await rename.sendAsync({ path: { connectionId: connection.id }, body });
    onClose();
  };
  return (
    <FormDialog onClose={onClose} title="Rename connection" form={form} onSubmit={submit} action="Rename">
      <Field label="Name" error={errors.name?.message}>
        <Input {...form.register('name')} autoComplete="off" />
      </Field>
    </FormDialog>
  );
}
