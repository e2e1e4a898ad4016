import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/hooks.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { bodyOf, EMPTY_SKILL, SkillFields } from './skill-form.tsx';

/** Asks for a skill of the project's own. */
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
  const submit = form.handleSubmit(async (values) => {
    try {
      await create.sendAsync({ body: bodyOf(values) });
      close();
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Dialog
      open={open}
      onClose={close}
      locked={form.formState.isDirty}
      size="lg"
      title="New skill"
      description="What your routines should know or always do: a house style, a product, a way of working."
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" form="new-skill" busy={create.isSending}>
            Create skill
          </Button>
        </>
      }
    >
      <form id="new-skill" onSubmit={submit} className="flex flex-col gap-4">
        <SkillFields form={form} rows={12} />
      </form>
    </Dialog>
  );
}
