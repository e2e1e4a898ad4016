import { useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { SESSION_KEY, useSession } from '#ui/api/session.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';

export function NameForm() {
  const { user } = useSession();
  const client = useQueryClient();
  const form = useForm({ values: { name: user.name }, resetOptions: { keepDirtyValues: true } });
  const { errors, isDirty } = form.formState;
  const save = useSend('post', '/auth/update-user', {
    refreshes: ['/v1/organizations'],
    done: 'Name saved',
    showsError: true,
    onDone: () => client.invalidateQueries({ queryKey: SESSION_KEY }),
  });
  const submit = form.handleSubmit(async (body) => {
    try {
      await save.sendAsync({ body });
      form.reset(body);
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <Section title="Name" description="As the others in your organizations see it.">
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
        <div className="flex items-end gap-2">
          <Field label="Your name" className="grow" error={errors.name?.message}>
            <Input {...form.register('name')} autoComplete="name" />
          </Field>
          <Button
            type="submit"
            busy={save.isSending}
            disabledReason={isDirty ? undefined : 'Nothing has changed.'}
          >
            Save name
          </Button>
        </div>
        <FormError message={errors.root?.message} />
      </form>
    </Section>
  );
}
