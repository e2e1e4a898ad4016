import { useSend } from '#ui/api/send.ts';
import { plural } from '#ui/format/numbers.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { useRoutinesWith } from './used-by.tsx';

export interface DeleteSkillProps {
  readonly open: boolean;
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

/** Asks before a skill is deleted, and says which routines lose it. */
export function DeleteSkill({ open, id, name, onClose, onDeleted }: DeleteSkillProps) {
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
      description={
        <>
          {use(routines.data?.length, routines.hasMore)} Its text is erased; this cannot be undone.
        </>
      }
      action="Delete skill"
      busy={remove.isSending}
      onConfirm={() => remove.send({ path: { skillId: id } })}
    />
  );
}

function use(routines: number | undefined, hasMore: boolean): string {
  if (routines === undefined) return 'Routines that have it attached go on without it.';
  if (routines === 0) return 'No routine uses it.';
  const these = hasMore ? `More than ${routines} routines` : plural(routines, 'routine');
  const isOne = routines === 1 && !hasMore;
  return `${these} ${isOne ? 'uses' : 'use'} it, and ${isOne ? 'goes' : 'go'} on without it from the next run on.`;
}
