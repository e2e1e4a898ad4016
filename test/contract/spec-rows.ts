/**
 * Every row of the contract's tables, and the rules beside them, by section: the name of the row → its text. A test
 * names the rows that it proves (`proves` in `test/support`), and `docs/contract-coverage.md` is made from both.
 */
export const SPEC_ROWS = {
  'Fields of a routine': {
    'routine.id': 'A string, addressed as `:routineId`',
    'routine.instructions': 'A string; may contain `{{variable}}` placeholders',
    'routine.schedule': 'A cron expression, validated with a cron parser on create and update',
    'routine.model':
      'Provider, connectionId and modelId, validated against the live model directory',
    'routine.skills': 'An ordered list of curated slugs or custom skill ids',
    'routine.toolPolicies': 'Must reference a saved connection',
    'routine.webhookUrl': 'Optional; when set, creation returns webhookSecret once',
    'routine.webhookSecret': 'Returned once, in the create response',
    'routine.nextRunAt': 'A timestamp advanced by scheduler ticks',
  },
  'Fields of a skill': {
    'skill.id': 'A string, used to reference custom skills',
    'skill.slug': 'A string, used to reference curated skills',
    'skill.name': 'A string, required for custom skills',
    'skill.description': 'A string, optional',
    'skill.instructions': 'A string of 20 to 24,000 characters',
  },
  'Skills': {
    'skills.curated': 'Available to every project, referenced by slug',
    'skills.project-scoped': 'Custom skills belong to a project and are referenced by id',
    'skills.appended':
      'Each skill is its own section headed `## Skill: <name>`, in the order of the routine',
    'skills.verbatim': 'Skill text is appended verbatim; only own instructions are interpolated',
    'skills.deleted': 'A custom skill that was deleted after being attached is skipped at run time',
    'skills.resolved-on-save': 'Creating or updating a routine resolves every skill reference',
  },
  'Runs': {
    'run.detail': 'A run detail contains steps, usage and webhook deliveries',
    'run.lists': 'The run list is filterable per routine or per project by path',
  },
  'API keys': {
    'key.form': '`<product_tag>_<prefix>_<secret>`, shown once at creation',
    'key.hash': 'Only a SHA-256 hash is stored; hashes are never returned',
    'key.project': 'A key is bound to exactly one project and carries scopes',
    'key.default-scopes': 'New keys default to models:read, routines:read, runs:read, runs:write',
  },
  'Envelope': {
    'envelope.success': 'An object with data and requestId',
    'envelope.failure': 'An object with error (code string, message string) and requestId',
  },
  'States of a routine': {
    'state.material-change': 'Any non-draft state, PATCH with a material change → draft',
    'state.activate-refused': 'Draft, activate without a successful manual run → 409, unchanged',
    'state.activate':
      'Draft, activate with a successful manual run after the last material change → active',
    'state.pause': 'Any, pause → paused',
    'state.archive': 'Any, DELETE → archived; history is retained',
  },
  'States of a tool policy': {
    'policy.discovered': 'Discovery creates the policy, disabled',
    'policy.automatic': 'PATCH with confirmAutomaticExecution true enables automatic execution',
  },
  'Endpoints: models and skills': {
    'GET /v1/models': 'Managed gateway options plus ready, enabled connected-account catalogs',
    'POST /v1/skills': 'Creates a project-scoped custom skill',
  },
  'Endpoints: organizations and projects': {
    'GET /v1/organizations': 'Organizations the user belongs to',
    'POST /v1/organizations': 'Creates the organization and its default project',
    'GET /v1/projects': 'Optional query organizationId filter',
    'POST /v1/projects': 'Requires owner or admin role in that organization',
  },
  'Endpoints: routines': {
    'GET /v1/routines': 'All routines of the project',
    'POST /v1/routines': '201; returns webhookSecret once when a webhook URL is set',
    'GET /v1/routines/:routineId': 'One routine',
    'PATCH /v1/routines/:routineId': 'Material changes return the routine to draft',
    'DELETE /v1/routines/:routineId': 'Archives; history retained',
    'POST /v1/routines/:routineId/run': '202; enqueues a manual run',
    'POST /v1/routines/:routineId/activate': '409 successful_run_required without a proof run',
    'POST /v1/routines/:routineId/pause': 'Pauses the trigger',
    'GET /v1/routines/:routineId/runs': 'Runs of one routine',
  },
  'Endpoints: runs': {
    'GET /v1/runs': 'All runs of the project',
    'GET /v1/runs/:runId': 'Full detail: steps, usage, webhook deliveries',
  },
  'Endpoints: connections and tool policies': {
    'GET /v1/connections': 'Encrypted material never returned',
    'POST /v1/connections': '201; self-managed tool server',
    'DELETE /v1/connections/:connectionId': 'Deletes stored credentials and the connection',
    'GET /v1/connections/providers': 'Managed providers and whether each is configured',
    'POST /v1/connections/oauth/:provider/start': 'Begins an OAuth authorization',
    'POST /v1/connections/api-key/:provider': 'Verifies and stores an API-key provider',
    'GET /v1/connections/:connectionId/accounts': 'Live accounts at the provider',
    'POST /v1/routines/:routineId/connections/:connectionId/discover':
      'Creates disabled tool policies',
    'GET /v1/routines/:routineId/tools': 'Tool policies of one routine',
    'PATCH /v1/routines/:routineId/tools/:policyId':
      'Requires confirmAutomaticExecution true to automate',
  },
  'Endpoints: personal model connections': {
    'GET /v1/model-connections/providers': 'Four provider descriptors',
    'GET /v1/model-connections': 'Label, owner, status, validation time, public error, model count',
    'GET /v1/model-connections/:connectionId/models': 'Account catalog of that ready connection',
    'POST /v1/model-connections/:connectionId/revoke':
      'Revokes credential use; returns the preserved audit record',
    'POST /v1/model-connections/provider-a/device/start':
      "Starts, or replaces, the owner's bounded device-code attempt",
    'GET /v1/model-connections/provider-a/device/:attemptId':
      'Polls the opaque attempt; only its initiating owner may poll',
    'POST /v1/model-connections/provider-a/device/:attemptId/cancel': 'Cancels the attempt',
    'POST /v1/model-connections/provider-b/oauth/start': 'Starts OAuth or reauthorizes',
    'GET /v1/model-connections/provider-b/oauth/callback':
      'Completes OAuth; the state is bound to the session and single-use',
    'GET /v1/model-connections/provider-c': 'Descriptor of the API-key provider',
    'POST /v1/model-connections/provider-c/api-key':
      'The key is validated, then the owned connection is created or replaced',
  },
  'Endpoints: API keys': {
    'GET /v1/api-keys': 'Never returns hashes',
    'POST /v1/api-keys': '201; returns the key exactly once',
    'DELETE /v1/api-keys/:apiKeyId': 'Revokes',
  },
  'Endpoints: billing': {
    'GET /v1/billing': 'Effective plan, status, period, allowances, usage, owner flag',
    'POST /v1/billing/checkout': 'URL of a hosted checkout',
    'POST /v1/billing/portal': 'Short-lived customer-portal URL',
  },
  'Endpoints outside /v1': {
    'GET /health': 'Liveness; unauthenticated',
    'GET /oauth/callback/:provider': 'The provider redirect, with the session cookie',
    'POST /internal/scheduler/tick': 'Header X-Scheduler-Secret; 202',
    'POST /public/business-leads': 'Trusted UI origin only; rate-limited; 202',
    'POST /webhooks/<payment_processor>': 'Raw signed payment-processor lifecycle events',
  },
  'Authentication': {
    'auth.bearer': 'Authorization: Bearer <API_KEY>',
    'auth.project-selection': 'X-Project-Id takes precedence over the <product_tag>_project cookie',
    'auth.membership': 'Membership of the selected project is verified in either case',
    'auth.session-only': 'Session-only endpoints answer an API key with 403 session_required',
    'auth.plan-rule': 'Free and starter permit read-only API requests; pro and scale permit writes',
    'auth.session-plan': 'Browser sessions are checked by membership and plan, not by scope',
    'auth.scheduler': 'The scheduler endpoint authenticates with X-Scheduler-Secret',
  },
  'Scopes': {
    'models:read': 'GET /v1/models',
    'routines:read': 'Read routines and their runs',
    'routines:write': 'Create, update, archive, activate, pause',
    'runs:read': 'List runs, read run detail',
    'runs:write': 'Start a manual run',
    'connections:read': 'Read connections and tool policies',
    'connections:write': 'Create connections, discover tools, set policies',
  },
  'Errors': {
    '400 invalid_skill': 'A skill reference matches neither a curated slug nor a custom skill',
    '400 tool_policy_requires_connection':
      'A tool policy is inline instead of referencing a saved connection',
    '402 plan or billing': 'Plan or billing restriction',
    '403 session_required': 'An API key calls a session-only endpoint',
    '404 routine_not_found': 'The routine does not exist in the project',
    '409 successful_run_required': 'Activation without a successful manual run',
    '429 rate limit': 'Rate limit exceeded; the response carries Retry-After',
    '503 scheduler_unavailable': 'Tick endpoint called with no scheduler configured',
  },
  'Limits': {
    'limit.rate': 'Per credential, fixed 60-second window, on authenticated /v1 traffic',
    'limit.rate-headers':
      'X-RateLimit-Limit and X-RateLimit-Remaining on responses; Retry-After on 429',
    'limit.body': 'Request body of at most 1 MB',
    'limit.skill': 'Custom skill instructions of 20 to 24,000 characters',
    'limit.curated': '49 marketing skills plus one web performance skill',
    'limit.runtime': 'Connected runtime: exactly one replica, HTTP/1 only',
    'limit.scheduler': 'Scheduler trigger every minute',
    'limit.secrets': 'Session and scheduler secret at least 32 characters, key base64 of 32 bytes',
    'limit.prices': 'Starter 10.00, pro 39.00, scale 99.00 USD a month',
  },
  'Startup': {
    'startup.encryption-key': 'ENCRYPTION_KEY is base64 of 32 bytes',
    'startup.secrets': 'BETTER_AUTH_SECRET and SCHEDULER_SECRET of at least 32 characters',
    'startup.production':
      'In production no start with fixture mode, without gateway key, with half a billing set-up',
    'startup.switches': 'Three launch switches default to false',
  },
} as const;

type Sections = typeof SPEC_ROWS;
export type SpecRow = { [S in keyof Sections]: keyof Sections[S] }[keyof Sections];


/** Rows that no test proves, each with the reason. A row with a test must leave this list. */
export const NOT_COVERED: Partial<Record<SpecRow, string>> = {
};
