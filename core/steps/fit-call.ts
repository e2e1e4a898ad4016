import type { ModelMessage } from 'ai';
import type { ModelOption } from '#core/models/index.ts';
import {
  execute,
  persistently,
  sql,
  storableJson,
  type Database,
  type Db,
} from '#lib/database/index.ts';
import type { RunContext } from './begin-step.ts';
import { fitTranscript, type TranscriptStep } from '#core/prompt/index.ts';
import { failure, type RunEnding } from '#core/runs/index.ts';
import type { ModelCall } from './model-call.ts';
import { countInput } from './model-usage.ts';

/**
 * Puts the transcript of a run into a call, so that both fit into the context window of the model.
 * @param call with the messages that come before the transcript
 * @returns the call with all its messages, or the end of a run whose step is too long whatever is left out of it
 */
export async function fitCall(
  database: Database,
  run: RunContext,
  step: { readonly index: number; readonly option: ModelOption },
  call: ModelCall,
): Promise<ModelCall | RunEnding> {
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
    return failure('context_exceeded', words);
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
