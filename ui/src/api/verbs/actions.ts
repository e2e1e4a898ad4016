import { Check, Undo2, X } from 'lucide-react';
import { drawn } from '#ui/format/drawn.ts';
import type { Shape } from '../types.ts';
import { verb } from './verb.ts';

/** Reads that change when a held call is decided. */
const DECIDED = ['/v1/actions', '/v1/attention', '/v1/runs'] as const;

interface Known extends Pick<Shape<'Action'>, 'id' | 'digest'> {
  readonly state?: Shape<'Action'>['state'];
  readonly toolName?: string;
}

interface Approved extends Known {
  /** The arguments that would be sent, as text for people. */
  readonly argumentsText?: string | null;
  /** Arguments that a person has changed before the approval. */
  readonly edited?: Readonly<Record<string, unknown>> | undefined;
}

export const APPROVE = verb<Approved>()('post', '/v1/actions/{actionId}/approve', {
  label: 'Approve',
  icon: Check,
  key: 'a',
  unless: ifDecided,
  // Pages that show the call itself leave this question out.
  question: ({ toolName = 'this call', argumentsText = '' }) => ({
    title: `Approve ${drawn(toolName)}?`,
    description: `The call is sent once, with ${argumentsText}.`,
    action: 'Approve call',
    kind: 'primary',
  }),
  input: ({ id, edited }) => ({ path: { actionId: id }, body: edited === undefined ? {} : { arguments: edited } }),
  ifMatch: ({ digest }) => `"${digest}"`,
  changes: DECIDED,
});

export const REJECT = verb<Known & { readonly note?: string | null }>()('post', '/v1/actions/{actionId}/reject', {
  label: 'Reject',
  icon: X,
  key: 'r',
  unless: ifDecided,
  question: ({ toolName = 'this call' }) => ({
    title: `Reject ${drawn(toolName)}?`,
    description: 'The call is never sent, and calls that use its result are not sent either.',
    action: 'Reject call',
  }),
  input: ({ id, note = null }) => ({ path: { actionId: id }, body: { reason: note } }),
  changes: DECIDED,
});

/** The keys of the inbox, and the action of each on a call or a question. */
export const INBOX_KEYS = {
  next: { key: 'j', label: 'Next' },
  previous: { key: 'k', label: 'Previous' },
  approve: { key: APPROVE.key, label: 'Approve or answer' },
  edit: { key: 'e', label: 'Edit' },
  reject: { key: REJECT.key, label: 'Reject, or go on without an answer' },
  select: { key: 'x', label: 'Select' },
} as const;

interface All {
  readonly actions: readonly Known[];
}

export const APPROVE_ALL = verb<All>()('post', '/v1/actions/approve', {
  label: 'Approve',
  icon: Check,
  input: ({ actions }) => ({ body: { actions: actions.map(({ id, digest }) => ({ id, digest })) } }),
  changes: DECIDED,
});

export const REJECT_ALL = verb<All & { readonly note: string | null }>()('post', '/v1/actions/reject', {
  label: 'Reject',
  icon: X,
  input: ({ actions, note }) => ({ body: { actions: actions.map(({ id }) => ({ id })), reason: note } }),
  changes: DECIDED,
});

export const REVOKE_RULE = verb<{ readonly rule: Shape<'ToolRule'>; readonly routineId: string }>()(
  'delete',
  '/v1/routines/{routineId}/tools/{policyId}/rules/{ruleId}',
  {
    label: 'Revoke',
    icon: Undo2,
    question: () => ({
      title: 'Revoke this rule?',
      description: 'From now on the calls that the rule let through wait for a person again.',
      action: 'Revoke rule',
    }),
    input: ({ rule, routineId }) => ({ path: { routineId, policyId: rule.policyId, ruleId: rule.id } }),
    changes: ['/v1/routines'],
    done: 'Rule revoked',
  },
);

function ifDecided({ state }: Pick<Known, 'state'>): string | undefined {
  return state === undefined || state === 'open' ? undefined : 'This call is already decided.';
}
