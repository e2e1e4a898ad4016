import type { ModelMessage } from 'ai';
import { readData } from '#core/outcomes/index.ts';
import { FINISH } from '#core/tools/index.ts';
import { failure, type RunEnding } from '#core/run-states/index.ts';
import type { RunContext } from './begin-step.ts';
import type { ModelResponse, ToolCallRequest } from './model-call.ts';

type RunWithForm = Pick<RunContext, 'projectId' | 'resultForm' | 'transcript'>;

/** The end of a run, once its result was checked against the form that the routine asks for. */
export interface FormedEnding {
  /** Undefined where the run goes on. */
  readonly ending: RunEnding | undefined;
  /** Messages to the model where it has to send its result again. */
  readonly messages?: readonly ModelMessage[];
}

/**
 * Reads the data of a run that would succeed. A result that does not have the form is requested once more, if a step is
 * left for it; else the run fails. A run with nothing to report needs no data, but data that it gives is accepted.
 */
export async function endingByForm(
  run: RunWithForm,
  response: ModelResponse,
  ending: RunEnding | undefined,
  mayGoOn: boolean,
): Promise<FormedEnding> {
  if (ending?.state !== 'succeeded' || run.resultForm === null) return { ending };
  const read = await readData(run.projectId, ending.result ?? '', run.resultForm);
  if (read.ok) {
    const data = { value: read.data, by: run.resultForm.key };
    return { ending: { ...ending, data } };
  }
  if (ending.outcome === 'nothing_to_report') return { ending };
  const { issue } = read;
  if (!run.transcript.some(asksForRepair) && mayGoOn) {
    return { ending: undefined, messages: repairRequest(issue, response.toolCalls) };
  }
  const message = `The result is not what was asked for: ${issue}.`;
  const { result, outcomeSummary } = ending;
  return { ending: { ...failure('result_invalid', message), result, outcomeSummary } };
}

/**
 * Asks a model for its result once more: in the response to the call that would have ended the run, as every call has
 * to have one, or else as the user.
 */
function repairRequest(issue: string, calls: readonly ToolCallRequest[]): ModelMessage[] {
  const what = issue.slice(0, MAX_ISSUE_LENGTH).toWellFormed();
  if (calls.length === 0) return [{ role: 'user', content: `${REPAIR} ${what}. ${REQUEST}` }];
  const refusal: ModelMessage = {
    role: 'tool',
    content: calls.map(({ callId, name }) => ({
      type: 'tool-result' as const,
      toolCallId: callId,
      toolName: name,
      output: { type: 'error-text' as const, value: `${REPAIR} ${what}. ${REFUSED}` },
    })),
  };
  return [refusal];
}

const MAX_ISSUE_LENGTH = 1_000;
const REPAIR = 'That is not the result that was asked for:';
const REQUEST =
  'Send the whole result again, corrected: one JSON value that satisfies the JSON Schema, and nothing else.';
const REFUSED = 'The call was refused. Call this again, with the whole result, corrected.';

/** Returns true for a request to repair a result, which only the service itself can make. */
function asksForRepair(message: ModelMessage): boolean {
  return (
    asksForText(message) ||
    (message.role === 'tool' &&
      message.content.some(
        (part) =>
          part.type === 'tool-result' &&
          part.toolName === FINISH &&
          part.output.type === 'error-text' &&
          part.output.value.startsWith(REPAIR),
      ))
  );
}

function asksForText({ role, content }: ModelMessage): boolean {
  return role === 'user' && typeof content === 'string' && content.startsWith(REPAIR);
}

/** Returns true when the next step has to repair a result that was written as text, for which it needs no tools. */
export function repairsText(transcript: readonly ModelMessage[]): boolean {
  const last = transcript.at(-1);
  return last !== undefined && asksForText(last);
}
