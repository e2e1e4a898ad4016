import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { bodyOf, EMPTY_SKILL, SkillFields, type SkillValues } from './skill-form.tsx';

/** Asks for a new skill of the project. */
export function NewSkillDialog({
  open,
  onClose,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
}) {
  const form = useForm({ defaultValues: EMPTY_SKILL });
  const create = useSend('post', '/v1/skills', {
    refreshes: ['/v1/skills'],
    done: 'Skill created',
    showsError: true,
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const submit = async (values: SkillValues) => {
    await create.sendAsync({ body: bodyOf(values) });
    close();
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      locked={form.formState.isDirty}
      size="lg"
      title="New skill"
      description="What your routines should know or always do: a house style, a product, a way of working."
      form={form}
      onSubmit={submit}
      action="Create skill"
    >
      <SkillFields form={form} rows={12} />
    </FormDialog>
  );
}
