import { Archive, ArchiveRestore, CirclePlay, Pause, Play, Undo2 } from 'lucide-react';
import type { InputOf, Shape } from '../types.ts';
import { verb } from './verb.ts';

/** Paths that other pages read again when a run starts or a routine changes its state. */
export const CHANGES = ['/v1/routines', '/v1/runs', '/v1/schedules', '/v1/attention', '/v1/skills'] as const;

type Id = Pick<Shape<'Routine'>, 'id'>;
interface Known extends Id {
  readonly state?: Shape<'Routine'>['state'] | undefined;
  readonly name?: string;
}

export const RUN_NOW = verb<Known & { body?: InputOf<'/v1/routines/{routineId}/run', 'post'>['body'] }>()(
  'post',
  '/v1/routines/{routineId}/run',
  {
    label: 'Run now',
    icon: Play,
    unless: ifArchived,
    input: ({ id, body = {} }) => ({ path: { routineId: id }, body }),
    changes: CHANGES,
    done: 'Run started',
  },
);

export const ACTIVATE = verb<Known>()('post', '/v1/routines/{routineId}/activate', {
  label: 'Activate',
  icon: CirclePlay,
  unless: ({ state }) => (state === 'active' ? 'The routine is already active.' : ifArchived({ state })),
  input: ({ id }) => ({ path: { routineId: id }, body: {} }),
  changes: CHANGES,
  done: 'Routine active',
});

export const PAUSE = verb<Known>()('post', '/v1/routines/{routineId}/pause', {
  label: 'Pause',
  icon: Pause,
  unless: ({ state }) => (state === 'paused' ? 'The routine is already paused.' : ifArchived({ state })),
  question: () => ({
    title: 'Pause this routine?',
    description:
      'The routine leaves its schedule until you activate it. Scheduled runs that have not begun are skipped.',
    action: 'Pause routine',
    kind: 'primary',
    option: {
      label: 'Also cancel the runs that are open',
      description: 'Runs under way, and runs that were started by hand.',
    },
  }),
  input: ({ id }, cancelRuns) => ({ path: { routineId: id }, body: { cancelRuns } }),
  changes: CHANGES,
  done: 'Routine paused',
});

export const ARCHIVE = verb<Known>()('delete', '/v1/routines/{routineId}', {
  label: 'Archive',
  icon: Archive,
  danger: true,
  unless: ifArchived,
  question: ({ name = 'this routine' }) => ({
    title: `Archive ${name}?`,
    description: 'The routine runs no more. Its runs and versions stay, and you can restore it as a draft.',
    action: 'Archive routine',
  }),
  input: ({ id }) => ({ path: { routineId: id } }),
  changes: CHANGES,
  done: 'Routine archived',
});

export const WITHDRAW = verb<Pick<Shape<'Proposal'>, 'id' | 'routineId'>>()(
  'delete',
  '/v1/routines/{routineId}/proposals/{proposalId}',
  {
    label: 'Withdraw',
    icon: Undo2,
    input: ({ id, routineId }) => ({ path: { routineId, proposalId: id } }),
    changes: CHANGES,
    done: 'Change withdrawn',
  },
);

export const RESTORE = verb<Known>()('post', '/v1/routines/{routineId}/restore', {
  label: 'Restore',
  icon: ArchiveRestore,
  input: ({ id }) => ({ path: { routineId: id } }),
  changes: CHANGES,
  done: 'Routine restored as a draft',
});

function ifArchived({ state }: Omit<Known, 'id'>): string | undefined {
  return state === 'archived' ? 'The routine is archived.' : undefined;
}
