import type { ErrorCode } from '#lib/errors.ts';

/** What the description of a tool says, where the words on its operation are about HTTP or too long for a list. */
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

/** What the description of an argument says, by its name; a tool’s own words stand before the dot. */
const ARGUMENT_WORDS: Readonly<Record<string, string>> = {
  limit: 'Items of this page, at most 200; 20 unless given.',
  cursor: 'Where to go on: the cursor at the end of the answer before.',
  name: 'A short name, on one line.',
  description: 'What it is for, in a sentence.',
  timezone: 'IANA name of the time zone of the schedule, such as Europe/Berlin. UTC unless given.',
  jitterSeconds: 'A scheduled run starts up to so many seconds late, to spread the load.',
  overlap: 'What happens when a run is due while another is open: skip it, or queue it.',
  misfire: 'What happens to times missed while the service was away.',
  budget: 'The most that the routine may use: maxTokensPerDay, maxCostUsdPerMonth.',
  pauseAfterFailures: 'Pause the routine after so many failed runs in a row; 0 for never.',
  webhookUrl: 'HTTPS address that is told of ended runs; null for none.',
  notifications: 'Mail about the routine: on which events, and to whom.',
  deliver: 'Which runs the webhook is told of: always, changed or failed.',
  instructions: 'What the model is told to do, in plain words. {{name}} stands for a variable.',
  variables: 'Values of the {{placeholders}} in the instructions, by name.',
  overridable: 'Names of the variables that run_routine may give; null for all.',
  model: 'provider, connectionId and modelId, as list_models has them.',
  skills: 'Slugs or ids of skills, as list_skills has them, in order.',
  limits: 'The most that one run may use, such as maxSteps and maxCostUsd.',
  carryResult: 'Tell each run the result of the run before.',
  builtInTools: 'Tools of the service itself: calculate does exact arithmetic.',
  outcome: 'required: each run has to state its outcome with the tool finish.',
  checks: 'Conditions that code checks on the result: a run that fails one is failed.',
  gate: 'An address or a read-only tool to look at first: with nothing new, the model is not called.',
  resultSchema: 'A JSON Schema that the result has to fit; null for a text.',
  resultKey: 'JSON Pointers to a list in the result, and from an item to its key, to compare runs.',
  externalKey: 'A key of your own for it, unique in the project.',
  managedBy: 'files, where files keep it. Leave it out otherwise.',
  idempotencyKey: 'Any text. A repeated call with the same one is done once.',
  ifMatch: 'The etag you have read: the call is refused if something changed since.',
  acceptForecast: 'Has no effect. Leave it out.',
  skillId: 'Id of a skill of the project, or slug of a curated one, from list_skills.',
  routineId: 'Id of the routine, from list_routines.',
  runId: 'Id of the run, from list_runs or run_routine.',
  connectionId: 'Id of the connection, from list_connections.',
  revision: 'Number of the version, from list_routine_versions.',
  stateChangedBy: 'service: only routines that the service itself paused or returned to draft.',
  uses: 'Only routines that use this skill, connection or model account.',
  state: 'Only those in this state.',
  trigger: 'Only runs that were started this way.',
  against: 'Id of another run of the routine to compare with; the run before unless given.',
  waitSeconds: 'Wait up to so long for the end of the run; 0 returns at once.',
  timeoutSeconds: 'Wait at most so long; the answer then has the state so far.',
  detail: 'summary: the result. steps: also what the run did. full: everything.',
  resultFrom: 'Where in a long result to begin, in characters.',
  'list_runs.outcome': 'Only runs that succeeded with this outcome.',
  'update_skill.instructions': 'The new text of the skill, 20 to 24000 characters.',
  'create_skill.instructions': 'Text of the skill, which routines with it are told; 20 to 24000 characters.',
};

/** Returns the words on an argument of a tool; undefined where those on its operation will do. */
export function argumentWords(tool: string, argument: string): string | undefined {
  if (tool === 'update_routine' && argument !== 'routineId' && argument !== 'ifMatch') return 'As in create_routine.';
  return ARGUMENT_WORDS[`${tool}.${argument}`] ?? ARGUMENT_WORDS[argument];
}

/** Names the tool that helps where a call was refused. */
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
