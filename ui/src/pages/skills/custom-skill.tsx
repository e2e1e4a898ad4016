import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { submitTo } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useList } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { LeaveGuard } from '#ui/parts/leave-guard.tsx';
import { ExternalKey, ManagedMark, ManagedNotice } from '#ui/parts/managed.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { Time } from '#ui/parts/time.tsx';
import { bodyOf, SkillFields } from './skill-form.tsx';
import { UsedBy, UseInRoutine, useRoutinesWith } from './used-by.tsx';

export function CustomSkill({ skill, id }: { readonly skill: Shape<'SkillDetail'>; readonly id: string }) {
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
  const submit = submitTo(form, async (values) => {
    await save.sendAsync({ path: { skillId: id }, body: bodyOf(values) });
    form.reset(values);
  });
  return (
    <>
      <PageHeader
        title={name}
        badge={<ManagedMark of={skill} />}
        back={{ label: 'Skills', link: { to: '/p/$projectId/skills', params: { projectId } } }}
        description={
          <>
            Revision {skill.revision}, changed <Time at={skill.updatedAt} as="relative" />. Manual runs use the newest
            text, scheduled runs the text from their activation.
            {skill.externalKey !== null && skill.managedBy === null && (
              <>
                {' '}
                Programs name this skill <ExternalKey of={skill.externalKey} />.
              </>
            )}
          </>
        }
        actions={
          <>
            <Button icon={Trash2} onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <UseInRoutine skill={id} />
          </>
        }
      />
      <ManagedNotice of={skill} />
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

interface DeleteSkillProps {
  readonly open: boolean;
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks before a skill is deleted, and says which routines lose it. */
function DeleteSkill({ open, id, name, onClose, onDeleted }: DeleteSkillProps) {
  const routines = useRoutinesWith(id);
  const remove = useSend('delete', '/v1/skills/{skillId}', {
    done: 'Skill deleted',
    onDone: onDeleted,
    refreshes: ['/v1/skills'],
  });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Delete ${name}?`}
      description={<>{use(routines.data?.length, routines.hasMore)} Its text is erased; this cannot be undone.</>}
      action="Delete skill"
      busy={remove.isSending}
      onConfirm={() => remove.send({ path: { skillId: id } })}
    />
  );
}

function use(routines: number | undefined, hasMore: boolean): string {
  if (routines === undefined) return 'Routines that use this skill continue without it.';
  if (routines === 0) return 'No routine uses this skill.';
  const these = hasMore ? `More than ${routines} routines` : plural(routines, 'routine');
  const isOne = routines === 1 && !hasMore;
  return `${these} ${isOne ? 'uses' : 'use'} this skill, and ${isOne ? 'continues' : 'continue'} without it from the next run on.`;
}

type Revision = Shape<'SkillRevision'>;

/** Says how many active routines run which older text of a skill. */
function StillOlder({ skill }: { readonly skill: Shape<'SkillDetail'> }) {
  const older = skill.inUse.filter(({ revision }) => revision !== skill.revision);
  if (older.length === 0) return null;
  return (
    <Notice className="mb-6">
      <span>
        {older
          .map(
            ({ revision, routines }) =>
              `${plural(routines, 'routine')} still ${routines === 1 ? 'runs' : 'run'} revision ${revision}.`,
          )
          .join(' ')}{' '}
        On the page of each routine: run the routine once, then use the new text.
      </span>
    </Notice>
  );
}

/** Lists the revisions of a skill, each with its changes. */
function Revisions({ id }: { readonly id: string }) {
  const revisions = useList('/v1/skills/{skillId}/revisions', {
    path: { skillId: id },
    query: { limit: 20 },
  });
  return (
    <Section title="Revisions" description="Scheduled runs use the revision from the activation of their routine.">
      <Await of={revisions} skeleton={<SkeletonRows rows={2} />} errorTitle="The revisions could not be read">
        {(rows) => (
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {rows.map((row, index) => (
              <li key={row.revision}>
                <Fold summary={<Summary row={row} />}>
                  <TextDiff
                    label={`Revision ${row.revision}`}
                    before={textOf(rows[index + 1] ?? (revisions.hasMore ? row : undefined))}
                    after={textOf(row)}
                  />
                </Fold>
              </li>
            ))}
          </ul>
        )}
      </Await>
      <Pager list={revisions} />
    </Section>
  );
}

function Summary({ row }: { readonly row: Revision }) {
  const by = row.createdBy?.name;
  return (
    <span className="flex grow flex-wrap items-center gap-x-3 text-sm">
      <span className="font-medium text-ink">Revision {row.revision}</span>
      <span className="text-muted">{row.changed.length === 0 ? 'first on record' : row.changed.join(' and ')}</span>
      <span className="ml-auto text-xs text-faint">
        <Time at={row.createdAt} as="relative" />
        {by != null && <> by {by}</>}
      </span>
    </span>
  );
}

/** Returns the text to compare with; empty before the first revision. */
function textOf(row: Revision | undefined): string {
  return row === undefined ? '' : `${row.name}\n\n${row.instructions}`;
}
