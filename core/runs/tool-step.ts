import type { ModelMessage } from 'ai';
import {
  callConfirmedTool,
  isRepeatable,
  NOT_AUTOMATIC,
  type ToolCallDeps,
  type ToolCallOutcome,
  type ToolTarget,
} from '#core/connections/index.ts';
import { persistently } from '#lib/database/index.ts';
import { redact } from './redact.ts';
import { cut, SHOWN_LENGTH, type PendingTool } from './tool-record.ts';
import { fenced, noResult, readResult } from './tool-result.ts';
import {
  markSending,
  readToolStep,
  recordToolStep,
  type ToolStep,
  type ToolStepEnd,
} from './tool-step-queries.ts';

export type ToolStepDeps = ToolCallDeps;

/** What the workflow learns of a call: nothing it has to act on. */
export type ToolStepOutcome = ToolStepEnd['state'] | 'skipped';

/**
 * One tool call of a run. What goes wrong with it is a result for the model to deal with and never an error; a call
 * that may have been carried out is made again only where that does no harm.
 * @throws the signal's reason, when it was aborted
 */
export async function performToolStep(
  deps: ToolStepDeps,
  input: { runId: string; index: number },
  signal: AbortSignal,
): Promise<ToolStepOutcome> {
  const { runId, index } = input;
  const step = await readToolStep(deps.database, runId, index);
  if (step === undefined || step.runState !== 'running' || step.cancelRequested) return 'skipped';
  const { state, tool } = step;
  if (state !== 'pending' && state !== 'started') return state;
  const record = async (end: ToolStepEnd): Promise<ToolStepOutcome> => {
    await persistently(() => recordToolStep(deps.database, input, end), signal);
    return end.state;
  };
  const refuse = (why: string) => {
    const end = refusal(tool, why);
    return record({ ...end, record: { ...end.record, ...shownArguments(tool.input, []) } });
  };

  const target = targetInTime(step);
  if (state === 'started' && !(target !== undefined && isRepeatable(target.policy))) {
    return record(unknownOutcome(tool));
  }
  if (target === undefined) return refuse(NOT_AUTOMATIC);
  const { policy, connection } = target;
  if (policy.maxCallsPerRun !== null && step.earlierCalls >= policy.maxCallsPerRun) {
    return refuse(`this tool may be called ${policy.maxCallsPerRun} times in a run`);
  }
  const args = tool.input;
  if (!isObject(args)) return refuse('the arguments have to be a JSON object');

  const outcome = await callConfirmedTool(deps, {
    runId,
    connection,
    policy,
    args,
    signal,
    onSending: (secrets) =>
      markSending(
        deps.database,
        { runId, index, attempt: step.attempt, seen: state },
        shownArguments(args, secrets),
      ),
  });
  // Another attempt, thought dead, has sent the call after all, or the run has ended: look again.
  if (outcome.kind === 'superseded') return performToolStep(deps, input, signal);
  if (outcome.kind === 'refused') return refuse(outcome.why);
  const cancelled = outcome.kind === 'failed' && signal.aborted;
  // Left as it is where the next attempt, on another worker, may call again.
  if (!(cancelled && (isRepeatable(policy) || !outcome.uncertain))) {
    const ended = await record(endOf(tool, outcome, isRepeatable(policy)));
    if (!cancelled) return ended;
  }
  throw signal.reason;
}

/** The policy and connection of the call, unless they are gone or were confirmed only after the run began. */
function targetInTime({ target, runStartedAt }: ToolStep): ToolTarget | undefined {
  const confirmedAt = target?.policy.confirmedAt ?? null;
  return confirmedAt !== null && confirmedAt <= runStartedAt ? target : undefined;
}

function endOf(
  tool: PendingTool,
  outcome: Extract<ToolCallOutcome, { kind: 'answered' | 'failed' }>,
  repeatable: boolean,
): ToolStepEnd {
  switch (outcome.kind) {
    case 'answered': {
      const { record, text } = readResult(outcome.result, outcome.secrets);
      const { resultFault } = outcome;
      // What the tool said stays on record for a person; the model is not given what may be wrong.
      if (resultFault !== undefined) {
        return {
          state: 'failed',
          errorMessage: sentence(resultFault),
          record: { ...record, isError: true },
          message: toolMessage(
            tool,
            `The call was made and may have taken effect, but its answer cannot be used: ${resultFault}.`,
            true,
          ),
        };
      }
      const failed = record.isError === true;
      return {
        state: failed ? 'failed' : 'succeeded',
        errorMessage: failed ? 'The tool answered with an error.' : null,
        record,
        message: toolMessage(tool, fenced(text), failed),
      };
    }
    case 'failed': {
      const { fault, secrets } = outcome;
      const said =
        fault.serverMessage === undefined ? undefined : redact(fault.serverMessage, secrets);
      const told = `The call failed: ${fault.message}.`;
      const unsure = outcome.uncertain && !repeatable;
      return {
        state: unsure ? 'outcome_unknown' : 'failed',
        errorMessage: sentence(fault.message),
        record: {
          ...noResult(),
          ...(said === undefined ? {} : { result: said, resultLength: said.length }),
        },
        message: toolMessage(
          tool,
          [told, ...(unsure ? [UNKNOWN] : []), ...(said === undefined ? [] : [fenced(said)])].join(
            '\n',
          ),
          true,
        ),
      };
    }
  }
}

const UNKNOWN =
  'Whether it was carried out is unknown: it may have taken effect. Do not repeat it; say in the result that this has to be checked.';

function refusal(tool: PendingTool, why: string): ToolStepEnd {
  return {
    state: 'failed',
    errorMessage: `Refused: ${why}.`,
    record: noResult(),
    message: toolMessage(tool, `The call was refused and not made: ${why}.`, true),
  };
}

function unknownOutcome(tool: PendingTool): ToolStepEnd {
  return {
    state: 'outcome_unknown',
    errorMessage:
      'The call was under way when the worker stopped; whether it took effect is unknown.',
    record: noResult(),
    message: toolMessage(tool, UNKNOWN, true),
  };
}

function toolMessage(tool: PendingTool, value: string, failed: boolean): ModelMessage {
  const output = { type: failed ? ('error-text' as const) : ('text' as const), value };
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: tool.callId, toolName: tool.name, output }],
  };
}

function shownArguments(args: unknown, secrets: readonly string[]) {
  const text = redact(JSON.stringify(args) ?? 'null', secrets);
  return { arguments: cut(text, SHOWN_LENGTH), argumentsLength: text.length };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
