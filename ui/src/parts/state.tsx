import type { ReactNode } from 'react';
import { capitalized } from '#ui/format/capitalized.ts';
import { cx } from './cx.ts';

export type Tone = 'good' | 'news' | 'warn' | 'bad' | 'busy' | 'idle';

const DOTS: Readonly<Record<Tone, string>> = {
  good: 'bg-good',
  news: 'bg-busy',
  warn: 'bg-warn',
  bad: 'bg-bad',
  busy: 'bg-busy',
  idle: 'bg-idle',
};

const SOFT: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good-ink',
  news: 'bg-busy-soft text-busy-ink',
  warn: 'bg-warn-soft text-warn-ink',
  bad: 'bg-bad-soft text-bad-ink',
  busy: 'bg-busy-soft text-busy-ink',
  idle: 'bg-sunken text-muted',
};

/** Words and tones of the states that the API names, for the whole dashboard. */
const STATES: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  // Runs and their steps.
  queued: ['Queued', 'idle'],
  running: ['Running', 'busy'],
  succeeded: ['Succeeded', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'idle'],
  skipped: ['Skipped', 'idle'],
  started: ['Under way', 'busy'],
  refused: ['Refused', 'warn'],
  not_begun: ['Not begun', 'idle'],
  outcome_unknown: ['Outcome unknown', 'warn'],
  nothing_to_report: ['Nothing to report', 'idle'],
  done: ['Succeeded', 'good'],
  partial: ['Succeeded in part', 'warn'],
  // Runs, by the urgency of their results.
  urgent: ['Urgent', 'warn'],
  news: ['Succeeded', 'news'],
  nothing_new: ['Nothing new', 'idle'],
  could_not: ['Could not', 'warn'],
  // Held calls of tools.
  open: ['Waits for you', 'warn'],
  approved: ['Approved', 'busy'],
  rejected: ['Rejected', 'idle'],
  replaced: ['Changed', 'idle'],
  closed: ['Closed', 'idle'],
  // Routines.
  draft: ['Draft', 'idle'],
  active: ['Active', 'good'],
  paused: ['Paused', 'warn'],
  archived: ['Archived', 'idle'],
  // Connections and accounts.
  ready: ['Ready', 'good'],
  pending: ['Pending', 'busy'],
  needs_reauthorization: ['Sign in again', 'warn'],
  plan_not_entitled: ['Plan not enough', 'warn'],
  pending_authorization: ['Sign-in not finished', 'busy'],
  revoked: ['Revoked', 'idle'],
  provider_disabled: ['Switched off', 'idle'],
  error: ['Error', 'bad'],
  // Model sources and checks of models.
  stale: ['Away', 'warn'],
  unavailable: ['Not reached', 'bad'],
  passed: ['Passed', 'good'],
  not_made: ['Not made', 'idle'],
  // Deliveries.
  delivered: ['Delivered', 'good'],
  sending: ['Sending', 'busy'],
  retrying: ['Retrying', 'warn'],
  sent: ['Sent', 'good'],
  held: ['Held back', 'idle'],
  merged: ['In the summary', 'idle'],
  // Subscriptions, in the words of the payment processor.
  trialing: ['On trial', 'good'],
  past_due: ['Payment failed', 'bad'],
  unpaid: ['Not paid', 'bad'],
  incomplete: ['Not paid yet', 'warn'],
  incomplete_expired: ['Never paid', 'idle'],
  canceled: ['Ended', 'idle'],
};

/** Returns the word and the tone of a state; a state that is not listed is shown by its own name. */
export function describeState(state: string): { label: string; tone: Tone } {
  const [label, tone] = STATES[state] ?? [capitalized(state.replaceAll('_', ' ')), 'idle' as const];
  return { label, tone };
}

export function toneOf(state: string): Tone {
  return describeState(state).tone;
}

export interface BadgeProps {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly title?: string;
}

/** Shows a word with slight emphasis. */
export function Badge({ tone = 'idle', children, title }: BadgeProps) {
  return (
    <span
      title={title}
      className={cx(
        'inline-flex h-5 items-center gap-1.5 rounded-sm px-1.5 text-xs font-medium whitespace-nowrap',
        SOFT[tone],
      )}
    >
      {children}
    </span>
  );
}

export interface StateBadgeProps {
  readonly state: string;
  /** The reason of the state, shown as the title. */
  readonly reason?: string | undefined;
}

/** Shows a state as a dot and a word. */
export function StateBadge({ state, reason }: StateBadgeProps) {
  const { label, tone } = describeState(state);
  return (
    <Badge tone={tone} {...(reason === undefined ? {} : { title: reason })}>
      <Dot tone={tone} />
      {label}
    </Badge>
  );
}

/** Shows only the dot of a state, for a place where the word is next to it. */
export function Dot({ tone }: { readonly tone: Tone }) {
  return (
    <span
      aria-hidden
      className={cx('size-1.5 shrink-0 rounded-full', DOTS[tone], tone === 'busy' && 'animate-pulse')}
    />
  );
}
