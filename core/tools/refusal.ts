/** The reasons for which a call is not made, in words for the model and for the step of the run. */
const REFUSALS = {
  not_automatic: 'nobody has confirmed that this tool may be used without being asked',
  call_limit_reached: 'this tool may be called {} times in a run',
  arguments_no_object: 'the arguments have to be a JSON object',
  connection_not_ready: 'the connection of this tool is not ready',
  connection_unusable: 'the connection of this tool cannot be used now',
  arguments_invalid: 'the arguments do not fit the tool: {}',
  arguments_not_confirmed: 'the arguments are outside of what was confirmed for this routine: {}',
  arguments_uncheckable: 'the arguments could not be checked against the schema of the tool',
  result_uncheckable:
    'the output schema of the tool is not usable, so its answer could not be checked',
  tool_changed:
    'the server has changed this tool since it was confirmed; it is disabled until somebody looks at it',
  tool_vanished: 'the server no longer has this tool',
} as const;
export type RefusalReason = keyof typeof REFUSALS;

/** A call that is not made. Nothing of it was sent to the server. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  readonly why: string;
}

/** @param detail stands where the words leave a place for it */
export function refused(reason: RefusalReason, detail: string | number = ''): Refusal {
  return { kind: 'refused', reason, why: REFUSALS[reason].replace('{}', () => String(detail)) };
}
