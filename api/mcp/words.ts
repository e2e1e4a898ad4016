import type { ErrorCode } from '#lib/errors.ts';

/** Descriptions of tools whose operation has a description about HTTP, or one that is too long. */
export const TOOL_WORDS: Readonly<Record<string, string>> = {
  list_models: 'List the models that routines can run on. Take provider, connectionId and modelId from here.',
  list_skills: 'List the skills that routines can use: those of the project, then the curated ones.',
  pause_routine: 'Take a routine off its schedule. An archived routine cannot be paused.',
  activate_routine:
    'Put a routine on its schedule. It needs a run_routine that succeeded with what the routine says now.',
  restore_routine_version: 'Make what an older version said the routine’s present text again, as a new version.',
  preview_routine: 'Show all that a run would be told and offered if it began now, without running it.',
  run_routine: 'Start a run of a routine now. With waitSeconds the answer has its result.',
  read_run: 'Read a run: its state, result, cost and reason of failure.',
  read_routine_forecast: 'Forecast what a routine uses and costs in the next 30 days.',
};

/** Description of an argument by name. A name with a dot belongs to one tool. */
const ARGUMENT_WORDS: Readonly<Record<string, string>> = {
  limit: 'Items of this page, at most 200.',
  cursor: 'The cursor of the answer before.',
  name: 'One short line.',
  description: 'What it is for.',
  timezone: 'IANA name, such as Europe/Berlin; UTC unless given.',
  jitterSeconds: 'Starts up to so many seconds late.',
  overlap: 'What to do while another run is open.',
  misfire: 'What to do about missed times.',
  budget: 'The most that it may use in a day or month.',
  pauseAfterFailures: 'Failed runs in a row after which it pauses; 0 for never.',
  webhookUrl: 'HTTPS address that is told of ended runs.',
  notifications: 'Mail: on which events, to whom.',
  deliver: 'Which runs the webhook is told of.',
  instructions: 'What the model is told. {{name}} stands for a variable.',
  variables: 'Values of the {{placeholders}}, by name.',
  overridable: 'Variables that run_routine may give; all unless given.',
  model: 'As list_models has it.',
  skills: 'Slugs or ids, from list_skills.',
  limits: 'The most that one run may use.',
  carryResult: 'Tell each run the result of the run before.',
  builtInTools: 'calculate does exact arithmetic.',
  outcome: 'required: each run states its outcome.',
  checks: 'Conditions on the result; a run that fails one is failed.',
  gate: 'A look first: with nothing new no model is called.',
  resultSchema: 'JSON Schema that the result has to fit.',
  resultKey: 'Pointers to a list and the key of an item.',
  externalKey: 'A key of your own, unique in the project.',
  managedBy: 'Leave it out.',
  managedFrom: 'Leave it out.',
  idempotencyKey: 'Same text: done once.',
  ifMatch: 'The etag you have read: refuse if it changed since.',
  acceptForecast: 'Has no effect. Leave it out.',
  skillId: 'Id or slug, from list_skills.',
  routineId: 'From list_routines.',
  runId: 'From list_runs or run_routine.',
  connectionId: 'From list_connections.',
  revision: 'From list_routine_versions.',
  stateChangedBy: 'service: those that the service itself stopped.',
  uses: 'Only routines with this skill, connection or account.',
  state: 'Only those in this state.',
  trigger: 'Only runs that were started this way.',
  resultsTo: 'Who gets the results: members by mail, chats by id.',
  sendsResults: 'Only those that tell results somewhere, or the rest.',
  unread: 'Only what you have not marked as read, or the rest.',
  worthReading: 'Only results that are no repetition, or the rest.',
  refuseOverBudget: 'Refuse if a limit runs out within 30 days.',
  runAt: 'A later time to start at, within a year.',
  skipDates: 'Dates without a run, in its time zone.',
  startsAt: 'No run before this time.',
  endsAt: 'No run after this time.',
  cancelRuns: 'Cancel its open runs too.',
  against: 'Another run; the one before unless given.',
  waitSeconds: 'Wait so long for its end; 0 returns at once.',
  timeoutSeconds: 'Wait at most so long.',
  detail: 'summary: the result. steps: what it did, too. full: all.',
  resultFrom: 'Where in a long result to begin, in characters.',
  'list_runs.outcome': 'Only runs that succeeded with this outcome.',
  'update_skill.instructions': 'The new text of the skill, 20 to 24000 characters.',
  'create_skill.instructions': 'Text of the skill, which routines with it are told; 20 to 24000 characters.',
};

/** Returns the description of a tool's argument; undefined where the operation's own is good enough. */
export function argumentWords(tool: string, argument: string): string | undefined {
  if (tool === 'update_routine' && argument !== 'routineId' && argument !== 'ifMatch') return 'As created.';
  return ARGUMENT_WORDS[`${tool}.${argument}`] ?? ARGUMENT_WORDS[argument];
}

/** Names the tool that helps after a refused call. */
export const HELP: Partial<Readonly<Record<ErrorCode, string>>> = {
  routine_not_found: 'list_routines has the ids.',
  run_not_found: 'list_runs has the ids.',
  skill_not_found: 'list_skills has the ids.',
  invalid_skill: 'list_skills has the skills there are.',
  invalid_model: 'list_models has the models there are.',
  connection_not_found: 'list_connections has the ids.',
  version_not_found: 'list_routine_versions has the revisions.',
  invalid_schedule: 'preview_schedule shows the times of a schedule.',
  invalid_timezone: 'preview_schedule shows the times of a schedule.',
  successful_run_required: 'Call run_routine, read its result, then call activate_routine again.',
  run_not_finished: 'Call wait_for_run first.',
  run_not_cancellable: 'read_run has how it ended.',
  precondition_failed: 'Read it again for its present etag, and decide again.',
};
