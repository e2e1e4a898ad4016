/** Every state of a run. `skipped` is an occurrence that a policy passed over: it never runs. */
export const RUN_STATES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'skipped',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The run's transitions; SQL takes its `state in (…)` conditions from here, and the docs print this table. */
export const RUN_TRANSITIONS = [
  { to: 'running', from: ['queued', 'running'], when: 'its first step begins' },
  { to: 'succeeded', from: ['running'], when: 'a model step ends without asking for tools' },
  {
    to: 'failed',
    from: ['queued', 'running'],
    when: 'a preflight, a limit or a step fails for good',
  },
  { to: 'cancelled', from: ['queued', 'running'], when: 'someone cancels it' },
] as const satisfies readonly { to: RunState; from: readonly RunState[]; when: string }[];

export type EndState = Exclude<(typeof RUN_TRANSITIONS)[number]['to'], 'running'>;

/** Whether nothing follows this state. */
export function isEndState(state: RunState): boolean {
  return RUN_TRANSITIONS.every(({ from }) => !from.some((before) => before === state));
}

/** The states from which a run may enter `to`. */
export function statesBefore(to: (typeof RUN_TRANSITIONS)[number]['to']): RunState[] {
  return RUN_TRANSITIONS.filter((transition) => transition.to === to).flatMap(({ from }) => [
    ...from,
  ]);
}

/** Why a run ended as it did, beyond its state: a closed list that users can switch on. */
export const RUN_REASONS = {
  // Skipped occurrences.
  overlap: 'the previous run of the routine was still going',
  misfire: 'the occurrence was missed and the routine does not make it up',
  budget_exceeded: 'the routine has used up its budget',
  allowance_exceeded: 'the organization has used up its runs of this month',
  provider_disabled: 'the model provider is disabled',
  blocked: 'a precondition did not hold',
  // Failed before any model call.
  blocked_model: 'the model is no longer in the model directory',
  blocked_models_unavailable: 'the model directory could not be reached',
  blocked_connection: 'a connection that the routine needs is gone or not ready',
  blocked_provider_disabled: 'the model provider is disabled',
  blocked_budget: 'the routine has used up its budget',
  blocked_routine: 'the routine was archived before the run began',
  blocked_variable: 'a placeholder of the instructions has no value',
  // Failed under way.
  timeout: 'the run took longer than limits.timeoutSeconds',
  max_steps: 'the run reached limits.maxSteps without finishing',
  max_total_tokens: 'the run reached limits.maxTotalTokens',
  model_rate_limited: 'the model provider kept answering that there were too many requests',
  model_error: 'the model provider answered with an error',
  model_unreachable: 'the model provider could not be reached or broke off',
  model_malformed: 'the model provider answered something that is not a completion',
  model_empty: 'the model answered without any text',
  output_truncated: 'the model stopped at its output limit',
  content_filtered: 'the provider withheld the answer',
  workflow_lost: 'the engine lost the run',
  internal_error: 'something went wrong on our side',
  // Cancelled.
  cancelled: 'someone cancelled it',
} as const;
export type RunReason = keyof typeof RUN_REASONS;

export const TRIGGERS = ['schedule', 'manual'] as const;
export type Trigger = (typeof TRIGGERS)[number];
