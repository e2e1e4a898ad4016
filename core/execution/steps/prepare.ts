import type { ModelMessage } from 'ai';
import { countInput } from '#core/clients/gateway/index.ts';
import type { ModelOption, ProjectModels } from '#core/models/directory/index.ts';
import {
  fitTranscript,
  openingMessages,
  PREAMBLE,
  type TranscriptStep,
  type Opening,
  renderPrompt,
} from '#core/execution/prompt/index.ts';
import { connectionsReady } from '#core/integrations/connections/index.ts';
import { findUsableConnection } from '#core/models/connections/index.ts';
import { unknownPlaceholders } from '#core/authoring/definition/index.ts';
import { resolveSkills, revisionsOf, type SkillRevisions } from '#core/authoring/skills/index.ts';
import { repairsText } from '#core/authoring/outcomes/index.ts';
import type { GateVerdict } from '#core/execution/gate/index.ts';
import type { FailureReason } from '#core/execution/run-states/index.ts';
import { databaseTime, persistently, storableJson, type Database, type Db } from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import { AppError } from '#lib/errors.ts';
import { takeBackAttempt, type RunContext, type PreparedRun } from './begin-step.ts';
import type { AccountStep, ModelCall, StepsCore } from './model-call.ts';
import { passGate } from './pass-gate.ts';
import { toolSet } from './plan-tool-calls.ts';
import { delayAfter, Stop, usedUp } from './stop.ts';

/** A model step whose call could be made now. */
export interface PreparedStep extends Ready {
  readonly index: number;
  readonly call: ModelCall;
  /** Counts the tokens of the input, once. */
  readonly countInput: () => number;
}

/**
 * Checks that a step may be made, asks the gate before the first, and puts the call of the model together.
 * @throws {Stop} where the run has to end
 */
export async function prepareStep(
  deps: StepsCore,
  run: RunContext,
  index: number,
  deadline: Deadline,
): Promise<PreparedStep> {
  const { signal } = deadline;
  const ready = await preflight(deps, run, signal, () => passGate(deps, run, signal));
  if ('reason' in ready) {
    if (ready.mayPass !== true || run.patienceMs <= 0) throw Stop.fails(ready.reason, ready.detail);
    await stopClock(deps, run, index);
    // It wakes when its patience is over, before a sweep takes it for lost.
    throw Stop.waits(Math.min(delayAfter(run.stepAgeMs), run.patienceMs + 1_000));
  }
  const { option } = ready;
  // A text that failed is asked for again under its schema, which leaves no room for tools.
  const tools = repairsText(run.transcript) ? {} : toolSet(run.tools);
  const isHeld = Object.keys(tools).length === 0 && option.abilities.structuredOutputs !== false;
  const fitted = await fitCall(
    deps.database,
    run,
    { index, option },
    {
      organizationId: run.organizationId,
      modelId: run.model.modelId,
      served: option.served,
      abilities: option.abilities,
      contextTokens: option.contextTokens,
      instructions: PREAMBLE,
      messages: openingMessages(ready),
      tools,
      resultSchema: isHeld ? run.resultForm?.schema : undefined,
      signal,
      account: accountStepOf(run, index, deadline),
    },
  );
  return { ...ready, index, ...fitted };
}

/** Lets the clock of a run stand still, and gives its place to another, while it waits for a connection. */
async function stopClock({ admission, database }: StepsCore, run: RunContext, index: number): Promise<void> {
  await database.run`
    with taken_back as (${takeBackAttempt(run, index)} returning run_id)
    update runs set waits_since = now() from taken_back where id = taken_back.run_id and state = 'running'
  `;
  admission.nudge();
}

/** Returns the account of the run's model; undefined for the gateway. */
function accountStepOf(
  { id, projectId, model, tools }: RunContext,
  index: number,
  deadline: Deadline,
): AccountStep | undefined {
  const { provider, connectionId } = model;
  if (connectionId === null) return undefined;
  const connection = { id: connectionId, projectId };
  return { provider, connection, runId: id, index, tools, remainingMs: deadline.remainingMs() };
}

/**
 * Puts the transcript of a run into a call, so that both fit into the context window of the model.
 * @param call with the messages that come before the transcript
 * @returns the call with all its messages, and what counts its tokens, once
 * @throws {Stop} where the step is too long even so
 */
async function fitCall(
  database: Database,
  run: RunContext,
  step: { readonly index: number; readonly option: ModelOption },
  call: ModelCall,
): Promise<Pick<PreparedStep, 'call' | 'countInput'>> {
  const withMessages = (transcript: readonly ModelMessage[]) => ({
    ...call,
    messages: [...call.messages, ...transcript],
  });
  const countWhole = counterOf(withMessages(run.transcript));
  const { messages, omitted, tooLong } = fitTranscript(run.transcriptSteps, step.option, {
    countInput: countWhole,
    maxOutputTokens: run.maxOutputTokens,
  });
  if (tooLong !== undefined) {
    const { tokens, contextTokens } = tooLong;
    const words = `This step has at least ${tokens} tokens, and the model takes ${contextTokens} with its response.`;
    throw Stop.fails('context_exceeded', words);
  }
  if (omitted.length > 0) {
    await persistently(() => recordOmitted(database, run.id, step.index, omitted), call.signal);
  }
  const fitted = withMessages(messages);
  return { call: fitted, countInput: omitted.length > 0 ? counterOf(fitted) : countWhole };
}

/** Returns a function that counts the tokens of a call, when it is called first. */
function counterOf(call: ModelCall): () => number {
  let counted: number | undefined;
  return () => (counted ??= countInput(call));
}

/**
 * Records from which model step on results of tools are left out, and what stands in their place: every later step
 * sends the same. The steps themselves go on showing what the tools returned.
 */
async function recordOmitted(db: Db, runId: string, index: number, omitted: readonly TranscriptStep[]): Promise<void> {
  await db.run`
    update steps s set messages = note.messages, tool = s.tool || ${JSON.stringify({ omittedFromStep: index })}::jsonb
    from jsonb_to_recordset(${storableJson(omitted)}::jsonb) as note(index integer, messages jsonb)
    where s.run_id = ${runId} and s.index = note.index and s.state not in ('pending', 'started')
  `;
}

/** A run that is ready for its next model call, with everything that the call needs. */
export interface Ready extends Opening {
  readonly option: ModelOption;
  /** Revisions of the skills in the text; null where an earlier step has rendered it. */
  readonly skillRevisions: SkillRevisions;
  /** Version of the facts in the text; null where it has none, and where an earlier step has rendered it. */
  readonly factsVersion: number | null;
}

/** The reason why a run ends before its model is called. */
export interface Blocked {
  readonly reason: FailureReason;
  /** Detail beyond the reason. */
  readonly detail?: string;
  /** True where the run waits, for as long as it may, instead of ending at once. */
  readonly mayPass?: boolean;
}

/**
 * Checks everything that must hold before money is spent, asks the gate, and renders the prompt of the first step.
 * @param askGate called when all else holds, for its verdict
 * @throws what `askGate` throws
 */
export async function preflight(
  deps: Pick<StepsCore, 'credentials' | 'database' | 'modelProviders' | 'models' | 'providerEnabled' | 'skills'>,
  run: PreparedRun,
  signal: AbortSignal,
  askGate: () => Promise<GateVerdict | null>,
): Promise<Ready | Blocked> {
  if (run.routineState === 'archived') return { reason: 'blocked_routine' };
  if (run.blocked !== null) return { reason: 'blocked_definition', detail: run.blocked };
  if (!deps.providerEnabled(run.model.provider)) return { reason: 'blocked_provider_disabled' };
  const blocked = await accountBlocked(deps, run);
  if (blocked !== undefined) return blocked;
  const option = await findModel(deps.models, run);
  if ('reason' in option) return option;
  if (run.prompt !== null && run.briefing !== null) {
    return {
      prompt: run.prompt,
      briefing: run.briefing,
      option,
      skillRevisions: null,
      factsVersion: null,
    };
  }
  if (unknownPlaceholders(run.instructions, run.variables, run.gate !== null).length > 0) {
    return { reason: 'blocked_variable' };
  }
  const needed = run.tools.flatMap(({ connectionId }) => connectionId ?? []);
  const readiness = await connectionsReady(deps, run.projectId, needed, signal);
  if (readiness === 'away') return { reason: 'blocked_connection', detail: AWAY, mayPass: true };
  if (readiness === 'blocked') return { reason: 'blocked_connection' };
  const gateVerdict = await askGate();
  const skills = await resolveSkills(
    deps.database,
    deps.skills,
    run.projectId,
    run.skills,
    run.trigger === 'manual' ? 'newest' : run.activeSkills,
  );
  const opening = renderPrompt({ ...run, skills, runId: run.id, gateVerdict });
  if (opening === undefined) return { reason: 'blocked_prompt_too_large' };
  const factsVersion = run.toldFacts?.version ?? null;
  return { ...opening, option, skillRevisions: revisionsOf(skills), factsVersion };
}

const AWAY =
  'The provider of a connection could not be reached to renew a sign-in that has expired. Runs wait for it as long as limits.maxQueueSeconds.';

/** Checks the account that the model is on. Issuing the call checks it once more, in the statement that issues it. */
async function accountBlocked(
  { database, modelProviders }: Pick<StepsCore, 'database' | 'modelProviders'>,
  { projectId, model, modelSteps }: PreparedRun,
): Promise<Blocked | undefined> {
  if (model.connectionId === null) return undefined;
  const account = await findUsableConnection(database, modelProviders, projectId, model.connectionId);
  if (account === undefined || account.provider !== model.provider) {
    return { reason: 'blocked_connection' };
  }
  const { notBefore } = account;
  // By the clock that all workers share: that of this machine may be wrong.
  if (notBefore === null || notBefore <= (await databaseTime(database))) return undefined;
  return usedUp(notBefore, modelSteps === 0);
}

async function findModel(models: ProjectModels, run: PreparedRun): Promise<ModelOption | Blocked> {
  try {
    const option = await models.find(run.projectId, run.model);
    if (option !== undefined) return option;
    const detail = models.explainAbsence(run.model);
    return { reason: 'blocked_model', ...(detail === undefined ? {} : { detail }) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'models_unavailable') {
      return { reason: 'blocked_models_unavailable', detail: error.message };
    }
    throw error;
  }
}
