import type { PassedLimit } from '#core/usage/index.ts';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import type { CheckResult, NextRuns, Outcome, RunWarning, Urgency } from '#core/authoring/outcomes/index.ts';
import { sentence } from '#lib/text.ts';

export { TRIGGERS, type Trigger } from '#core/foundation/engine/index.ts';

/** Every state of a run. `skipped` is an occurrence that a policy excluded: it never runs. */
export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The transitions of a run; SQL takes its `state in (…)` conditions from here, and the docs print this table. */
export const RUN_TRANSITIONS = [
  { to: 'running', from: ['queued', 'running'], when: 'its first step begins' },
  { to: 'succeeded', from: ['running'], when: 'a model step ends it, and every check of the routine passes' },
  { to: 'failed', from: ['queued', 'running'], when: 'a preflight, a limit or a step fails for good' },
  { to: 'cancelled', from: ['queued', 'running'], when: 'someone cancels it, or the next occurrence replaces it' },
  { to: 'skipped', from: ['queued'], when: 'it has waited too long, or is no longer wanted' },
  { to: 'skipped', from: ['running'], reason: 'no_change', when: 'its gate sees nothing to wake the model for' },
] as const satisfies readonly { to: RunState; from: readonly RunState[]; when: string; reason?: string }[];

export type EndState = Exclude<(typeof RUN_TRANSITIONS)[number]['to'], 'running'>;

/** Tells whether the state is final. */
export function isEndState(state: RunState): boolean {
  return RUN_TRANSITIONS.every(({ from }) => !from.some((before) => before === state));
}

/** Returns the states from which a run may enter `to` for this reason; a few transitions are for one reason only. */
export function runStatesBefore(
  to: (typeof RUN_TRANSITIONS)[number]['to'],
  reason: RunReason | null = null,
): RunState[] {
  return RUN_TRANSITIONS.filter(
    (transition) => transition.to === to && (!('reason' in transition) || transition.reason === reason),
  ).flatMap(({ from }) => [...from]);
}

/** Reasons for the end of a run, beyond its state. The list is closed, so that clients can branch on a reason. */
export const RUN_REASONS = {
  // Skipped occurrences.
  overlap: 'the previous run of the routine was still going',
  misfire: 'the occurrence was missed, and the routine does not catch up',
  budget_exceeded: 'a budget of the routine, its project or its organization is used up',
  allowance_exceeded: 'the organization has used up its runs of this month',
  provider_disabled: 'the model provider is disabled',
  provider_unavailable: 'the last runs on the model account failed because of its provider',
  blocked: 'a precondition did not hold',
  put_off: 'an earlier run of the routine postponed this one',
  queue_expired: 'the run waited longer than limits.maxQueueSeconds',
  paused: 'the routine was paused before the run began',
  superseded: 'the routine was changed before the run began',
  archived: 'the routine was archived before the run began',
  no_change: 'the gate of the routine saw nothing to wake the model for',
  // Failed before any model call.
  blocked_model: 'the model is no longer in the model directory',
  blocked_models_unavailable: 'the model directory could not be reached',
  blocked_connection: 'a connection that the routine needs is gone or not ready',
  blocked_provider_disabled: 'the model provider is disabled',
  blocked_provider_mismatch: 'the service and its provider runtime have different files of the model provider',
  blocked_usage_limit: 'the allowance of the model account is used up for now',
  blocked_budget: 'a budget leaves too little for a step, or limits the cost of a model without prices',
  blocked_routine: 'the routine was archived while the run was under way',
  blocked_definition: 'a newer release wrote the definition, and this release cannot read all of it',
  blocked_variable: 'a placeholder of the instructions has no value',
  blocked_prompt_too_large: 'the rendered text or its variables are longer than allowed',
  // Failed while running.
  timeout: 'the run took longer than limits.timeoutSeconds',
  max_steps: 'the run reached limits.maxSteps without finishing',
  max_total_tokens: 'the run reached limits.maxTotalTokens, or too few tokens were left for a step',
  context_exceeded: 'the step was longer than the context window of the model, even without earlier results of tools',
  abnormal_cost: 'the run used more than limits.abnormalFactor times the median of the last runs of its version',
  model_rate_limited: 'the model provider kept answering that there were too many requests',
  model_error: 'the model provider answered with an error of its own',
  model_refused: 'the model provider refused the request',
  model_key_refused: "the model gateway refused the service's own key",
  model_credential_refused:
    "the model provider refused the account's credential; the owner has to connect the account again",
  model_usage_limit: 'the allowance of the model account is used up for now',
  model_account_empty: 'the account at the model provider has no money left, or has reached a limit on spending',
  model_session_failed: 'the session of the model call in the provider runtime failed',
  model_unreachable: 'the model provider could not be reached or broke off',
  model_malformed: 'the response of the model provider was not a completion',
  model_empty: 'the model answered without any text',
  model_wrote_call: 'the model wrote a tool call as text instead of making it, even after a reminder',
  outcome_missing: 'the model ended without stating its outcome, which the routine requires, even after a reminder',
  could_not: 'the model stated that it could not do the work',
  check_failed: 'a check of the routine failed; the error message names the check',
  output_truncated: 'the model stopped at its output limit',
  content_filtered: 'the provider withheld the answer',
  result_invalid: 'the last message was not the data that resultSchema and resultKey ask for',
  workflow_lost: 'the engine lost the run',
  internal_error: 'the service failed',
  // Cancelled.
  cancelled: 'someone cancelled the run',
  replaced: 'the next occurrence of the routine replaced this run',
} as const;
export type RunReason = keyof typeof RUN_REASONS;

/** Class of each failure: whose fault it is. The class decides the consequences. */
export const FAILURE_CLASSES = {
  routine: 'counts towards `pauseAfterFailures`',
  provider: 'counts towards the breaker of the model account',
  platform: 'counts against no one and alerts the operator',
} as const;
export type FailureClass = keyof typeof FAILURE_CLASSES;

/** Every reason of a failed run, with its class. */
export const CLASS_OF_FAILURE = {
  blocked_model: 'routine',
  blocked_models_unavailable: 'provider',
  blocked_connection: 'routine',
  blocked_provider_disabled: 'provider',
  blocked_provider_mismatch: 'platform',
  blocked_usage_limit: 'provider',
  blocked_budget: 'routine',
  blocked_routine: 'routine',
  blocked_definition: 'platform',
  blocked_variable: 'routine',
  blocked_prompt_too_large: 'routine',
  timeout: 'routine',
  max_steps: 'routine',
  max_total_tokens: 'routine',
  budget_exceeded: 'routine',
  context_exceeded: 'routine',
  abnormal_cost: 'routine',
  model_rate_limited: 'provider',
  model_error: 'provider',
  model_refused: 'routine',
  model_key_refused: 'platform',
  model_credential_refused: 'routine',
  model_usage_limit: 'provider',
  model_account_empty: 'provider',
  model_session_failed: 'platform',
  model_unreachable: 'provider',
  model_malformed: 'provider',
  model_empty: 'routine',
  model_wrote_call: 'routine',
  outcome_missing: 'routine',
  could_not: 'routine',
  check_failed: 'routine',
  output_truncated: 'routine',
  content_filtered: 'routine',
  result_invalid: 'routine',
  workflow_lost: 'platform',
  internal_error: 'platform',
} as const satisfies Partial<Record<RunReason, FailureClass>>;
export type FailureReason = keyof typeof CLASS_OF_FAILURE;

/** Returns the class of a failed run; null for a run that ended otherwise, or has not ended. */
export function failureClassOf(run: { readonly state: string; readonly reason: string | null }): FailureClass | null {
  if (run.state !== 'failed') return null;
  const classes: Readonly<Record<string, FailureClass>> = CLASS_OF_FAILURE;
  return classes[run.reason ?? ''] ?? null;
}

/** Tells whether a failure counts towards `pauseAfterFailures`. A used-up budget, which renews itself, does not. */
export function countsTowardsPause(reason: RunReason | null): boolean {
  if (reason === 'blocked_budget' || reason === 'budget_exceeded') return false;
  return failureClassOf({ state: 'failed', reason }) === 'routine';
}

export interface RunEnding {
  readonly state: EndState;
  readonly reason: RunReason | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
  /** Class of the failure, which says whose fault it is; null for every other end. */
  readonly failureClass: FailureClass | null;
  /** Outcome of a successful run, by default `done`. */
  readonly outcome?: Outcome;
  readonly outcomeSummary?: string | null | undefined;
  /** How soon the result should be read, as the model stated. */
  readonly urgency?: Urgency | undefined;
  /** Results of the checks; undefined if nothing was checked. */
  readonly checks?: readonly CheckResult[];
  /** Warnings about missing tools or texts; undefined if there are none. */
  readonly warnings?: readonly RunWarning[] | undefined;
  /** The budget that left too little for the next step, if it is known. */
  readonly passedLimit?: PassedLimit | undefined;
  /** Requests of a successful run about the runs after it. */
  readonly next?: NextRuns | undefined;
  /** Data of the result in the form that the routine asks for; undefined without a form. */
  readonly data?: ResultData;
}

export interface ResultData {
  readonly value: unknown;
  /** Key that identifies the items of the list; null without a key. */
  readonly by: ResultKey | null;
}

/** Returns the ending of a failed run, in the words of its reason unless `message` is more exact. */
export function failure(reason: FailureReason, message?: string): RunEnding {
  const errorMessage = message ?? reasonAsMessage(reason);
  const failureClass = CLASS_OF_FAILURE[reason];
  return { state: 'failed', reason, errorMessage, result: null, failureClass };
}

/** Returns the ending of a run whose model step ended with a text. */
export function success(result: string | null): RunEnding {
  return { state: 'succeeded', reason: null, errorMessage: null, result, failureClass: null };
}

export const cancellation = unfinished('cancelled', 'cancelled');

/** The ending of an open run that the next occurrence replaces. */
export const replacement = unfinished('cancelled', 'replaced');

/** Returns the ending of a queued run that is skipped. */
export function skip(reason: RunReason): RunEnding {
  return unfinished('skipped', reason);
}

function unfinished(state: 'cancelled' | 'skipped', reason: RunReason): RunEnding {
  return { state, reason, errorMessage: reasonAsMessage(reason), result: null, failureClass: null };
}

/** Returns the error message of a run that has no more exact message than its reason. */
export function reasonAsMessage(reason: RunReason): string {
  return sentence(RUN_REASONS[reason]);
}

export const STEP_KINDS = ['model', 'tool'] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** Every state of a step. Only tool steps are `pending` or have an `outcome_unknown`. */
export const STEP_STATES = ['pending', 'started', 'succeeded', 'failed', 'outcome_unknown'] as const;
export type StepState = (typeof STEP_STATES)[number];

export const MEANINGS_OF_STEP_STATES = {
  pending: 'a call that the model has asked for and that has not gone out',
  started: 'the request is under way',
  succeeded: 'the response or the result is recorded',
  failed: 'it was refused, did not happen, or was answered with an error',
  outcome_unknown: 'it is not known whether the call took effect, so it is not made again',
} as const satisfies Record<StepState, string>;

/** Warnings of a step: a problem that did not end the run. */
export const STEP_WARNINGS = {
  outcome_unknown:
    'Nothing says whether this call took effect. Look at the system of the tool before you start the run again.',
  prompt_cut:
    'The server counted less than half of the tokens that were sent: it may have cut the prompt. Its context window may be set too small.',
  usage_not_believed:
    'The server stated more tokens than the model can read and write, or fewer than none. They were counted from the texts instead.',
  call_as_text:
    'The model wrote a tool call as text, so it was not made. Its server may lack the parser for the calls of this model.',
} as const;
export type StepWarning = keyof typeof STEP_WARNINGS;

/** Lists the reasons for withholding the event of a run's end from a webhook; users choose which apply. */
export const WITHHELD = {
  no_change: 'the routine delivers changes, and the run brought none',
  not_failed: 'the routine delivers failures only',
  no_webhook: 'the routine had no webhook that takes deliveries',
  follow_up: 'the run answers a question about a result',
  rehearsal: 'the run is a rehearsal',
} as const;
export type Withheld = keyof typeof WITHHELD;
