import { CircleStop, RotateCw } from 'lucide-react';
import type { Shape } from '../types.ts';
import { CHANGES } from './routines.ts';
import { verb } from './verb.ts';

type Known = Pick<Shape<'Run'>, 'id'> & Partial<Pick<Shape<'Run'>, 'contentErasedAt' | 'cancelRequestedAt'>>;

export const RUN_AGAIN = verb<Known>()('post', '/v1/runs/{runId}/retry', {
  label: 'Run again',
  icon: RotateCw,
  key: 'a',
  unless: ({ contentErasedAt }) =>
    contentErasedAt == null ? undefined : 'The variables of this run are erased. Start a new run.',
  input: ({ id }) => ({ path: { runId: id } }),
  changes: CHANGES,
  done: 'Run started',
});

export const CANCEL_RUN = verb<Known>()('post', '/v1/runs/{runId}/cancel', {
  label: 'Cancel run',
  icon: CircleStop,
  unless: ({ cancelRequestedAt }) => (cancelRequestedAt == null ? undefined : 'The run is being cancelled.'),
  question: () => ({
    title: 'Cancel this run?',
    description:
      'The run stops within seconds, in the middle of its model call. Its usage so far counts, and the effects of its tools are not undone.',
    action: 'Cancel run',
  }),
  input: ({ id }) => ({ path: { runId: id } }),
  changes: CHANGES,
});
