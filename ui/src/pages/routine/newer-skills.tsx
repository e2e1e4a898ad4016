import { Play } from 'lucide-react';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';

/** Says which texts of its skills an active routine still runs, and offers the way to the newer ones. */
export function NewerSkills({ routine }: { readonly routine: Shape<'RoutineDetail'> }) {
  const { id: routineId, skillsBehind } = routine;
  const refreshes = ['/v1/routines', '/v1/runs', '/v1/skills'];
  const run = useSend('post', '/v1/routines/{routineId}/run', {
    refreshes,
    done: 'The run has started',
  });
  const take = useSend('post', '/v1/routines/{routineId}/activate', {
    refreshes,
    done: 'Scheduled runs take the new text',
  });
  if (skillsBehind.length === 0) return null;
  const isProven = skillsBehind.some(
    ({ activated, proven }) => proven !== null && proven > activated,
  );
  const texts = skillsBehind.map(
    ({ name, activated, newest }) => `revision ${activated} of ${name}, which is at ${newest}`,
  );
  return (
    <Notice>
      <span>
        Its scheduled runs still take {listInWords(texts)}.{' '}
        {isProven
          ? 'A run with the newer text has succeeded.'
          : 'Run it once: a run by hand takes the newest text.'}
      </span>
      {isProven ? (
        <Button
          size="sm"
          busy={take.isSending}
          onClick={() => take.send({ path: { routineId }, body: {} })}
        >
          Use the new text
        </Button>
      ) : (
        <Button
          size="sm"
          icon={Play}
          busy={run.isSending}
          onClick={() => run.send({ path: { routineId } })}
        >
          Run once
        </Button>
      )}
    </Notice>
  );
}
