import { useForm } from 'react-hook-form';
import { submitTo } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { count } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';

const MAX_LENGTH = 24_000;

export interface NewSkillProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Called with the reference of the new skill. */
  readonly onCreated: (reference: string) => void;
}

/** Writes a custom skill without leaving the routine. */
export default function NewSkill({ open, onClose, onCreated }: NewSkillProps) {
  const form = useForm({ defaultValues: { name: '', description: '', instructions: '' } });
  const { errors } = form.formState;
  const create = useSend('post', '/v1/skills', {
    refreshes: ['/v1/skills'],
    done: 'Skill created and attached',
    showsError: true,
  });
  const submit = submitTo(form, async ({ name, description, instructions }) => {
    const body = { name, instructions, ...(description === '' ? {} : { description }) };
    const skill = await create.sendAsync({ body });
    onCreated(skill.id ?? '');
    form.reset();
    onClose();
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="md"
      title="New skill"
      description="How to do a kind of work, for every routine of this project that attaches it."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={create.isSending} onClick={() => void submit()}>
            Create and attach
          </Button>
        </>
      }
    >
      <Field label="Name" error={errors.name?.message}>
        <Input placeholder="House style" {...form.register('name')} />
      </Field>
      <Field label="Description" optional error={errors.description?.message}>
        <Input {...form.register('description')} />
      </Field>
      <Field
        label="Instructions"
        description="Runs get this text unchanged; {{variables}} are not filled in here."
        error={errors.instructions?.message}
        aside={`${count(form.watch('instructions').length)} / ${count(MAX_LENGTH)}`}
      >
        <Textarea rows={8} {...form.register('instructions')} />
      </Field>
      <FormError message={errors.root?.message} />
    </Dialog>
  );
}
