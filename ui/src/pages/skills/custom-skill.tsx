import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { LeaveGuard } from '#ui/parts/leave-guard.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { bodyOf, SkillFields } from './skill-form.tsx';
import { DeleteSkill } from './delete-skill.tsx';
import { Revisions, StillOlder } from './revisions.tsx';
import { UsedBy } from './used-by.tsx';

/** Edits a skill of the project. */
export function CustomSkill({
  skill,
  id,
}: {
  readonly skill: Shape<'SkillDetail'>;
  readonly id: string;
}) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { name, description, instructions } = skill;
  const form = useForm({
    defaultValues: { name, description: description ?? '', instructions },
  });
  const { isDirty } = form.formState;
  const save = useSend('patch', '/v1/skills/{skillId}', {
    refreshes: ['/v1/skills'],
    done: 'Skill saved',
    showsError: true,
  });
  const submit = form.handleSubmit(async (values) => {
    try {
      await save.sendAsync({ path: { skillId: id }, body: bodyOf(values) });
      form.reset(values);
    } catch (error) {
      showFaults(form, error);
    }
  });
  return (
    <>
      <PageHeader
        title={name}
        back={{ label: 'Skills', link: { to: '/p/$projectId/skills', params: { projectId } } }}
        description={
          <>
            Revision {skill.revision}, changed <Time at={skill.updatedAt} as="relative" />. A run by
            hand takes the newest text, a scheduled one that which it was activated with.
          </>
        }
        actions={
          <Button icon={Trash2} onClick={() => setDeleting(true)}>
            Delete
          </Button>
        }
      />
      <StillOlder skill={skill} />
      <div className="grid gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_17rem]">
        <div className="flex min-w-0 flex-col gap-8">
          <form onSubmit={submit} className="flex flex-col gap-4">
            <SkillFields form={form} rows={18} />
            <FormError message={form.formState.errors.root?.message} />
            <div className="flex flex-wrap items-center gap-3">
              <Button
                kind="primary"
                type="submit"
                busy={save.isSending}
                disabledReason={isDirty ? undefined : 'Nothing has changed.'}
              >
                Save skill
              </Button>
              {isDirty && (
                <Button kind="quiet" onClick={() => form.reset()}>
                  Discard changes
                </Button>
              )}
            </div>
          </form>
          <Revisions id={id} />
        </div>
        <aside>
          <UsedBy skill={id} />
        </aside>
      </div>
      <DeleteSkill
        open={isDeleting}
        id={id}
        name={name}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/p/$projectId/skills', params: { projectId } })}
      />
      <LeaveGuard isDirty={() => isDirty && !isDeleting} />
    </>
  );
}
