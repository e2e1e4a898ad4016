/**
 * Every error that a caller of the API can receive: code → HTTP status and default message. A run fails for other
 * reasons: see `RUN_REASONS` in `core/execution/run-states`, whose names are the types of `ApplicationFailure`.
 */
export const ERRORS = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_json: [400, 'The request body is not valid JSON.'],
  invalid_schedule: [400, 'The schedule is not valid.'],
  invalid_timezone: [400, 'The time zone is not a known IANA name.'],
  invalid_model: [400, 'The model is not in the live model directory.'],
  invalid_skill: [400, 'A skill reference matches neither a curated slug nor a custom skill.'],
  invalid_variable: [400, 'A placeholder has no value.'],
  invalid_gate: [400, 'The gate cannot be asked.'],
  invalid_webhook_url: [400, 'The webhook URL is not allowed.'],
  tool_policy_requires_connection: [400, 'A tool policy must reference a saved connection.'],
  project_required: [400, 'Select a project with the X-Project-Id header.'],
  confirmation_required: [400, 'Automatic execution needs confirmAutomaticExecution: true.'],
  authentication_required: [401, 'Send an API key as a bearer token, or sign in.'],
  invalid_api_key: [401, 'The API key is unknown or revoked.'],
  invalid_id_token: [401, 'The ID token is not accepted.'],
  invalid_signature: [401, 'The signature or secret does not match.'],
  plan_write_required: [402, 'API keys may write only on the pro and scale plans.'],
  allowance_exceeded: [402, 'The allowance of the plan is used up.'],
  session_required: [403, 'This operation needs a browser session; an API key cannot call it.'],
  reauthentication_required: [
    403,
    'Prove that it is you: POST /auth/prove with your password or a code, then repeat the request.',
  ],
  second_factor_required: [403, 'This organization requires a second factor: add one in your settings.'],
  insufficient_scope: [403, 'The API key lacks the scope of this operation.'],
  owner_required: [403, 'Only the owner may do this.'],
  sharing_disabled: [403, 'This project shares no results. An owner or admin switches links on in its settings.'],
  own_action: [403, 'The credential that started the run cannot decide about its actions.'],
  forbidden: [403, 'Your role does not permit this.'],
  origin_not_allowed: [403, 'The Origin header does not match the user interface.'],
  provider_disabled: [403, 'This provider is disabled.'],
  checkout_disabled: [403, 'Checkout is disabled.'],
  organization_not_found: [404, 'No such organization.'],
  project_not_found: [404, 'No such project.'],
  member_not_found: [404, 'No such member of this organization.'],
  invitation_not_found: [404, 'No such invitation, or it has expired or is for another address.'],
  session_not_found: [404, 'No such session of yours.'],
  api_key_not_found: [404, 'No such API key.'],
  ci_trust_not_found: [404, 'No such CI sign-in in this project.'],
  assistant_not_found: [404, 'No such assistant in this project.'],
  skill_not_found: [404, 'No such skill in this project.'],
  routine_not_found: [404, 'No such routine in this project.'],
  proposal_not_found: [404, 'No such proposal for this routine.'],
  version_not_found: [404, 'No such version of this routine.'],
  facts_version_not_found: [404, 'No such version of the facts of this project.'],
  run_not_found: [404, 'No such run in this project.'],
  action_not_found: [404, 'No such held action in this project.'],
  tool_rule_not_found: [404, 'No such rule of this tool.'],
  question_not_found: [404, 'No such question in this project.'],
  delivery_not_found: [404, 'No such delivery on this run.'],
  chat_not_found: [404, 'No such chat in this project.'],
  link_not_found: [404, 'This link shows no result.'],
  attempt_not_found: [404, 'No such sign-in of yours.'],
  connection_not_found: [404, 'No such connection in this project.'],
  policy_not_found: [404, 'No such tool policy on this routine.'],
  provider_not_found: [404, 'No such provider.'],
  route_not_found: [404, 'No such route.'],
  method_not_allowed: [405, 'The route does not support this method.'],
  not_acceptable: [406, 'Only application/json can be produced.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  successful_run_required: [409, 'Run the routine once, successfully, since its last material change.'],
  forecast_over_budget: [409, 'The forecast of the routine exceeds a limit, and refuseOverBudget: true was sent.'],
  forecast_not_accepted: [409, 'These runs cost money; acceptForecast: true accepts the cost and starts them.'],
  last_owner: [409, 'An organization always has an owner; make another person one first.'],
  already_member: [409, 'This person is a member already.'],
  limit_reached: [409, 'A limit on the number of resources is reached.'],
  routines_active: [409, 'Pause or archive the active routines first.'],
  subscription_active: [409, 'Cancel the subscription first.'],
  schedule_ended: [409, 'The schedule has no time left: change endsAt first.'],
  routine_not_active: [409, 'Only an active routine takes proposals; change this one by PATCH.'],
  proposal_open: [409, 'Another change of the routine is being tried.'],
  routine_archived: [409, 'The routine is archived.'],
  external_key_taken: [409, 'Another resource of the same kind in this project has this externalKey.'],
  action_differs: [
    409,
    'The action differs from the one that you have read: send the digest of the action as If-Match.',
  ],
  action_closed: [409, 'The action has been decided or closed already.'],
  action_not_allowed: [409, 'The call is no longer allowed.'],
  action_waits: [409, 'This action uses the result of another action, which has to be approved first.'],
  definition_unreadable: [409, 'A newer release wrote this routine, and this release cannot read all of it.'],
  run_not_cancellable: [409, 'The run has already ended.'],
  run_not_finished: [409, 'The run has not ended yet.'],
  run_without_data: [409, 'The run has no data: it did not succeed, or its routine had no resultSchema.'],
  run_without_result: [409, 'The run has no result.'],
  content_erased: [409, 'The content of the run has been erased.'],
  question_closed: [409, 'The question cannot be answered any more.'],
  webhook_not_configured: [409, 'The routine has no webhook URL.'],
  rotation_in_progress: [409, 'The previous webhook secret still signs; send force: true to drop it now.'],
  billing_account_missing: [409, 'The organization has never paid for anything.'],
  connection_not_ready: [409, 'The connection is not ready.'],
  account_mismatch: [409, 'The connection belongs to another account.'],
  attempt_expired: [409, 'The attempt has expired.'],
  idempotency_in_progress: [409, 'A request with this Idempotency-Key is still in progress.'],
  precondition_failed: [412, 'The resource does not meet If-Match or If-None-Match.'],
  body_too_large: [413, 'The request body is larger than 1 MB.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used with a different request.'],
  rate_limited: [429, 'Too many requests in this minute.'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'The service has an internal error.'],
  provider_error: [502, 'The provider did not respond as expected.'],
  scheduler_unavailable: [503, 'No scheduler is configured.'],
  runtime_unavailable: [503, 'The provider runtime is not available.'],
  models_unavailable: [503, 'The model directory is not available.'],
  service_unavailable: [503, 'The service is temporarily unavailable; try again.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERRORS;

/** An error that may be shown to the caller unchanged: its message never contains a secret. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Faults in the caller's input, if the message lists them. */
  faults: readonly Fault[] = [];

  constructor(code: ErrorCode, message?: string, headers: Record<string, string> = {}) {
    super(message ?? ERRORS[code][1]);
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code][0];
    this.headers = headers;
  }
}

/** Locates a fault in the caller's input; `path` is in dotted form, `variables.topic` or `skills[3]`. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** Makes one `invalid_request` (or a more exact code) with every fault and its path. */
export function invalid(faults: readonly Fault[], code: ErrorCode = 'invalid_request'): AppError {
  const shown = faults.slice(0, 20).map((fault) => `${fault.path}: ${fault.message}`);
  if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
  const error = new AppError(code, shown.join('; '));
  error.faults = faults;
  return error;
}

/** The most faults of one request that a response lists. */
const MOST_DETAILS = 100;

/** Matches a message about one field: its path, then the fault. */
const ABOUT_FIELD = /^(?<path>[A-Za-z][\w-]*(?:\.[\w-]+|\[\d+\])*): (?<message>.+)$/s;

function detailsOf({ faults, message, status }: AppError) {
  const { path, message: about } = (status === 400 && ABOUT_FIELD.exec(message)?.groups) || {};
  const all = faults.length === 0 && path !== undefined && about !== undefined ? [{ path, message: about }] : faults;
  return all.slice(0, MOST_DETAILS).map((fault) => ({ param: fault.path, message: fault.message }));
}

/** Returns the body of a failure. `isDetailed` adds each fault with its path. */
export function failureBody(error: AppError, requestId: string, { isDetailed = false } = {}): string {
  const { code, message } = error;
  const details = isDetailed ? detailsOf(error) : [];
  return JSON.stringify({
    error: { code, message: message || ERRORS[code][1], ...(details.length > 0 && { details }) },
    requestId,
  });
}
