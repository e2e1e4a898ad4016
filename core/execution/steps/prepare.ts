import { jsonSchema, tool, type ModelMessage, type ToolSet } from 'ai';
import { countInput, withoutDialect } from '#core/clients/gateway/index.ts';
import type { ModelOption } from '#core/models/directory/index.ts';
import {
  fitTranscript,
  openingMessages,
  PREAMBLE,
  type TranscriptStep,
  type Opening,
  renderFollowUp,
  renderPrompt,
} from '#core/execution/prompt/index.ts';
import { connectionsReady } from '#core/integrations/connections/index.ts';
import type { OfferedTool } from '#core/integrations/tools/index.ts';
import { findUsableConnection } from '#core/models/connections/index.ts';
import { unknownPlaceholders } from '#core/authoring/definition/index.ts';
import { resolveSkills, revisionsOf, type SkillRevisions } from '#core/authoring/skills/index.ts';
import { repairsText } from '#core/authoring/outcomes/index.ts';
import type { GateVerdict } from '#core/execution/gate/index.ts';
import { databaseTime, persistently, storableJson, type Database, type Db } from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import { AppError } from '#lib/errors.ts';
import type { StepRun } from './begin-step.ts';
import type { AccountStep, ModelCall, StepsCore } from './model-call.ts';
import { passGate } from './pass-gate.ts';
import { delayAfter, Stop, takeBackAttempt } from './stop.ts';

/** A model step whose call could be made now. */
export interface PreparedStep extends PreparedOpening {
  readonly option: ModelOption;
  readonly call: ModelCall;
  /** Counts the tokens of the input, once. */
  readonly countInput: () => number;
}

/**
 * Checks that a step may be made, asks the gate before the first step, and assembles the call of the model.
 * @throws {Stop} if the run must end, or waits for a sign-in
 */
export async function prepareStep(deps: StepsCore, run: StepRun, deadline: Deadline): Promise<PreparedStep> {
  const { signal } = deadline;
  const option = await findModel(deps, run);
  const opening = await prepareOpening(deps, run, signal, () => passGate(deps, run, signal));
  // If a text did not fit its schema, the model is asked again with the schema. A request with a schema offers no
  // tools.
  const tools = repairsText(run.transcript) ? {} : toolSet(run.tools);
  const isHeld = Object.keys(tools).length === 0 && option.abilities.structuredOutputs !== false;
  const fitted = await fitCall(deps.database, run, option, {
    organizationId: run.organizationId,
    modelId: run.model.modelId,
    served: option.served,
    abilities: option.abilities,
    effort: run.model.effort,
    contextTokens: option.contextTokens,
    instructions: PREAMBLE,
    messages: openingMessages(opening),
    tools,
    resultSchema: isHeld ? run.resultForm?.schema : undefined,
    signal,
    account: accountStepOf(run, deadline),
  });
  return { ...opening, option, ...fitted };
}

/** Returns the tools in the model library's form, without functions to execute them: each call is a separate step. */
export function toolSet(offered: readonly OfferedTool[]): ToolSet {
  return Object.fromEntries(
    offered.map(({ name, description, inputSchema }) => [
      name,
      tool({
        ...(description === null ? {} : { description }),
        inputSchema: jsonSchema(withoutDialect(inputSchema)),
      }),
    ]),
  );
}

function accountStepOf(run: StepRun, deadline: Deadline): AccountStep | undefined {
  const { runId, index, projectId, tools } = run;
  const { provider, connectionId } = run.model;
  if (connectionId === null) return undefined;
  const connection = { id: connectionId, projectId };
  return { provider, connection, runId, index, tools, remainingMs: deadline.remainingMs() };
}

/**
 * Puts the transcript of a run into a call, so that both fit into the context window of the model.
 * @param call with the messages that come before the transcript
 * @returns the call with all its messages, and a function that counts its tokens, once
 * @throws {Stop} if the step is still too long
 */
async function fitCall(database: Database, run: StepRun, option: ModelOption, call: ModelCall) {
  const withMessages = (transcript: readonly ModelMessage[]) => ({
    ...call,
    messages: [...call.messages, ...transcript],
  });
  const countWhole = counterOf(withMessages(run.transcript));
  const { messages, omitted, tooLong } = fitTranscript(run.transcriptSteps, option, {
    countInput: countWhole,
    maxOutputTokens: run.maxOutputTokens,
  });
  if (tooLong !== undefined) {
    const { tokens, contextTokens } = tooLong;
    const words = `This step has at least ${tokens} tokens, and the model takes ${contextTokens} with its response.`;
    throw Stop.fails('context_exceeded', words);
  }
  if (omitted.length > 0) await persistently(() => recordOmitted(database, run, omitted), call.signal);
  const fitted = withMessages(messages);
  return { call: fitted, countInput: omitted.length > 0 ? counterOf(fitted) : countWhole };
}

function counterOf(call: ModelCall): () => number {
  let counted: number | undefined;
  return () => (counted ??= countInput(call));
}

/**
 * Records the notes that replaced results, so that every later step sends them too. The tool steps still show the
 * results.
 */
async function recordOmitted(db: Db, { runId, index }: StepRun, omitted: readonly TranscriptStep[]): Promise<void> {
  await db.run`
    update steps s set messages = note.messages, tool = s.tool || ${JSON.stringify({ omittedFromStep: index })}::jsonb
    from jsonb_to_recordset(${storableJson(omitted)}::jsonb) as note(index integer, messages jsonb)
    where s.run_id = ${runId} and s.index = note.index and s.state not in ('pending', 'started')
  `;
}

/**
 * Finds the model of a run, and checks that the run may use it.
 * @throws {Stop} when the routine, its definition, the provider or the account does not allow the run, and when no
 * source has the model
 */
export async function findModel(deps: StepsCore, run: StepRun): Promise<ModelOption> {
  if (run.routineState === 'archived') throw Stop.fails('blocked_routine');
  if (run.blocked !== null) throw Stop.fails('blocked_definition', run.blocked);
  if (!deps.providerEnabled(run.model.provider)) throw Stop.fails('blocked_provider_disabled');
  await assertAccountUsable(deps, run);
  try {
    const option = await deps.models.find(run.projectId, run.model);
    if (option !== undefined) return option;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'models_unavailable') throw error;
    throw Stop.fails('blocked_models_unavailable', error.message);
  }
  throw Stop.fails('blocked_model', deps.models.explainAbsence(run.model));
}

/** Checks that the run's account can be used. The statement that issues the call checks this once more. */
async function assertAccountUsable(deps: StepsCore, { projectId, model, modelSteps }: StepRun): Promise<void> {
  if (model.connectionId === null) return;
  const account = await findUsableConnection(deps.database, deps.modelProviders, projectId, model.connectionId);
  if (account === undefined || account.provider !== model.provider) throw Stop.fails('blocked_connection');
  const { notBefore } = account;
  // Use the clock that all workers share, because the clock of this machine may be wrong.
  if (notBefore !== null && notBefore > (await databaseTime(deps.database))) {
    throw Stop.usedUp(notBefore, modelSteps === 0);
  }
}

/** The text of a run, with the versions of its parts. */
export interface PreparedOpening extends Opening {
  /** Revisions of the skills in the text; null if an earlier step has rendered the text. */
  readonly skillRevisions: SkillRevisions;
  /** Version of the facts in the text; null without facts, and when an earlier step has rendered the text. */
  readonly factsVersion: number | null;
}

/**
 * Renders the text of a run before its first step; later steps send the recorded text.
 * @param askGate called for its verdict when all other checks pass
 * @throws {Stop} when the run must end, or waits for a sign-in, and the errors of `askGate`
 */
export async function prepareOpening(
  deps: StepsCore,
  run: StepRun,
  signal: AbortSignal,
  askGate: () => Promise<GateVerdict | null>,
): Promise<PreparedOpening> {
  const { prompt, briefing } = run;
  if (prompt !== null && briefing !== null) return { prompt, briefing, skillRevisions: null, factsVersion: null };
  if (prompt !== null && run.followUp !== null) {
    await assertConnected(deps, run, signal);
    return { prompt, briefing: renderFollowUp(run, run.followUp), skillRevisions: null, factsVersion: null };
  }
  if (unknownPlaceholders(run.instructions, run.variables, run.gate !== null).length > 0) {
    throw Stop.fails('blocked_variable');
  }
  await assertConnected(deps, run, signal);
  const gateVerdict = await askGate();
  const skills = await resolveSkills(
    deps.database,
    deps.skills,
    run.projectId,
    run.skills,
    run.trigger === 'manual' || run.trigger === 'rehearsal' ? 'newest' : run.activeSkills,
  );
  const opening = renderPrompt({ ...run, gateVerdict }, skills);
  if (opening === undefined) throw Stop.fails('blocked_prompt_too_large');
  return { ...opening, skillRevisions: revisionsOf(skills), factsVersion: run.toldFacts?.version ?? null };
}

const AWAY =
  'The provider of a connection could not be reached to renew a sign-in that has expired. The run waited for the provider as long as limits.maxQueueSeconds allows.';

/**
 * Checks that the connections of a run's tools can be used. When a sign-in cannot be renewed just now, the run waits:
 * its clock stops, and another run takes its place.
 */
async function assertConnected(deps: StepsCore, run: StepRun, signal: AbortSignal): Promise<void> {
  const { stepAgeMs, patienceMs } = run;
  const needed = run.tools.flatMap(({ connectionId }) => connectionId ?? []);
  const readiness = await connectionsReady(deps, run.projectId, needed, signal);
  if (readiness === 'blocked') throw Stop.fails('blocked_connection');
  if (readiness !== 'away') return;
  if (patienceMs <= 0) throw Stop.fails('blocked_connection', AWAY);
  await deps.database.run`
    with taken_back as (${takeBackAttempt(run)} returning run_id)
    update runs set waits_since = now() from taken_back where id = taken_back.run_id and state = 'running'
  `;
  deps.admission.nudge();
  // Wake the run once its waiting time is over, before a sweep takes it for lost.
  throw Stop.waits(Math.min(delayAfter(stepAgeMs), patienceMs + 1_000));
}
