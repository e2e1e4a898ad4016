import type { RunEnding } from '../ending.ts';
import type { FailureReason } from '../states.ts';

/** Runs in a row that fail because of the provider before the breaker of their model account opens. */
export const FAILURES_TO_OPEN = 3;

/** First pause of a breaker that opens. Every further failure doubles it. */
export const FIRST_PAUSE_SECONDS = 30;
export const LONGEST_PAUSE_SECONDS = 300;

/** Reasons of runs that failed on their own account, after the provider had responded properly. */
const AFTER_A_RESPONSE: ReadonlySet<string> = new Set<FailureReason>([
  'max_steps',
  'max_total_tokens',
  'model_refused',
  'model_empty',
  'outcome_missing',
  'could_not',
  'check_failed',
  'output_truncated',
  'content_filtered',
]);

/** Returns what the end of a run says about its model's provider; undefined when it says nothing. */
export function providerVerdict(
  ending: Pick<RunEnding, 'state' | 'reason' | 'failureClass'>,
): 'available' | 'unavailable' | undefined {
  if (ending.failureClass === 'provider') return 'unavailable';
  const responded = ending.reason !== null && AFTER_A_RESPONSE.has(ending.reason);
  return ending.state === 'succeeded' || responded ? 'available' : undefined;
}

export interface OpenBreaker {
  readonly account: string;
  /** True when the pause of an open breaker is over, so that one occurrence may probe the provider. */
  readonly probeDue: boolean;
  readonly pauseUntil: Date;
}

/** A skipped occurrence, with the end of the pause of its account. */
type HeldBack<T> = T & Pick<OpenBreaker, 'pauseUntil'>;

/** Divides occurrences whose breaker is open: one probe for each account whose pause is over, the rest is skipped. */
export function chooseProbes<T extends { readonly account: string }>(
  occurrences: readonly T[],
  breakers: readonly OpenBreaker[],
): { readonly probes: readonly T[]; readonly heldBack: readonly HeldBack<T>[] } {
  const open = new Map(breakers.map((breaker) => [breaker.account, breaker]));
  const probes = new Map<string, T>();
  const heldBack: HeldBack<T>[] = [];
  for (const occurrence of occurrences) {
    const breaker = open.get(occurrence.account);
    if (breaker === undefined) continue;
    const { probeDue, pauseUntil } = breaker;
    if (probeDue && !probes.has(occurrence.account)) probes.set(occurrence.account, occurrence);
    else heldBack.push({ ...occurrence, pauseUntil });
  }
  return { probes: [...probes.values()], heldBack };
}
