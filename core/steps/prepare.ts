import type { ModelMessage } from 'ai';
import type { ModelOption } from '#core/models/index.ts';
import {
  fitTranscript,
  openingMessages,
  PREAMBLE,
  type TranscriptStep,
} from '#core/prompt/index.ts';
import {
  execute,
  persistently,
  sql,
  storableJson,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import type { Deadline } from '#lib/deadline.ts';
import type { RunContext } from './begin-step.ts';
import type { AccountStep, ModelCall } from './model-call.ts';
import { countInput } from './model-usage.ts';
import { passGate, type GateDeps } from './pass-gate.ts';
import { toolSet } from './plan-tool-calls.ts';
import { preflight, type PreflightDeps, type Ready } from './preflight.ts';
import { Stop } from './stop.ts';
import { repairsText } from './typed-result.ts';

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
  deps: PreflightDeps & GateDeps & { readonly database: Database },
  run: RunContext,
  index: number,
  deadline: Deadline,
): Promise<PreparedStep> {
  const { signal } = deadline;
  const ready = await preflight(deps, run, signal, () => passGate(deps, run, signal));
  if ('reason' in ready) throw Stop.fails(ready.reason, ready.detail);
  const { option } = ready;
  // A text that failed is asked for again under its schema, which leaves no room for tools.
  const tools = repairsText(run.transcript) ? {} : toolSet(run.tools);
  const isHeld = Object.keys(tools).length === 0 && option.abilities.structuredOutputs !== false;
  const call = await fitCall(
    deps.database,
    run,
    { index, option },
    {
      modelId: run.model.modelId,
      served: option.served,
      abilities: option.abilities,
      instructions: PREAMBLE,
      messages: openingMessages(ready),
      tools,
      resultSchema: isHeld ? run.resultForm?.schema : undefined,
      signal,
      account: accountStepOf(run, index, deadline),
    },
  );
  let counted: number | undefined;
  return { ...ready, index, call, countInput: () => (counted ??= countInput(call)) };
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
 * @returns the call with all its messages
 * @throws {Stop} where the step is too long even so
 */
async function fitCall(
  database: Database,
  run: RunContext,
  step: { readonly index: number; readonly option: ModelOption },
  call: ModelCall,
): Promise<ModelCall> {
  const withMessages = (transcript: readonly ModelMessage[]) => ({
    ...call,
    messages: [...call.messages, ...transcript],
  });
  const { messages, omitted, tooLong } = fitTranscript(run.transcriptSteps, step.option, {
    countInput: () => countInput(withMessages(run.transcript)),
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
  return withMessages(messages);
}

/**
 * Records from which model step on results of tools are left out, and what stands in their place: every later step
 * sends the same. The steps themselves go on showing what the tools returned.
 */
async function recordOmitted(
  db: Db,
  runId: string,
  index: number,
  omitted: readonly TranscriptStep[],
): Promise<void> {
  await execute(
    db,
    sql`
      update steps s set messages = note.messages, tool = s.tool || ${JSON.stringify({ omittedFromStep: index })}::jsonb
      from jsonb_to_recordset(${storableJson(omitted)}::jsonb) as note(index integer, messages jsonb)
      where s.run_id = ${runId} and s.index = note.index and s.state not in ('pending', 'started')
    `,
  );
}
