import type { ModelMessage } from 'ai';
import {
  type builtInTool,
  type MadeCall,
  redact,
  SHOWN_LENGTH,
  type PendingTool,
  type rehearsing,
  type ToolRecord,
  noResult,
  readResult,
} from '#core/integrations/tools/index.ts';
import { fence } from '#core/execution/prompt/index.ts';
import { cut, sentence } from '#lib/text.ts';

export interface ToolStepEnd {
  readonly state: 'succeeded' | 'failed' | 'outcome_unknown';
  readonly errorMessage: string | null;
  readonly record: Partial<ToolRecord>;
  /** True for a call without a recorded beginning, because it took no time. */
  readonly madeNow?: true;
  /** The result of the call for the model. */
  readonly message: ModelMessage;
}

type Made<Kind> = Extract<MadeCall, { readonly kind: Kind }>;

export function endOf(
  tool: PendingTool,
  call: Made<'answered' | 'failed' | 'refused' | 'maybe_sent'> | rehearsing.StagedCall,
): ToolStepEnd {
  switch (call.kind) {
    case 'answered':
      return answeredEnd(tool, call);
    case 'failed':
      return failedEnd(tool, call);
    case 'staged':
      return stagedEnd(tool, call);
    case 'refused':
      return {
        state: 'failed',
        errorMessage: `Refused: ${call.why}.`,
        record: { ...noResult(), ...shownArguments(tool.input, []), refused: true },
        message: toolMessage(tool, `The call was refused and not made: ${call.why}.`, true),
      };
    case 'maybe_sent':
      return {
        state: 'outcome_unknown',
        errorMessage: 'The call was under way when the worker stopped; whether it took effect is unknown.',
        record: noResult(),
        message: toolMessage(tool, UNKNOWN, true),
      };
  }
}

const UNKNOWN =
  'Whether it was carried out is unknown: it may have taken effect. Do not repeat it; say in the result that this has to be checked.';

type BuiltInTool = NonNullable<ReturnType<typeof builtInTool>>;

export function builtInEnd(tool: PendingTool, outcome: ReturnType<BuiltInTool['execute']>): ToolStepEnd {
  const text = outcome.ok ? JSON.stringify(outcome.result) : outcome.error;
  // Fence the error, which may repeat text that the model took from a page, like the lines of a list.
  return ownEnd(tool, { ok: outcome.ok, text, told: fenced(text) });
}

/** @param end.told the text for the model: the service's own text, or a fenced text */
export function ownEnd(
  tool: PendingTool,
  { ok, text, told }: { readonly ok: boolean; readonly text: string; readonly told: string },
): ToolStepEnd {
  return endNow(tool, told, { isError: !ok, result: cut(text, SHOWN_LENGTH), resultLength: text.length });
}

/** Returns the end of a call that took no time. */
function endNow(
  tool: PendingTool,
  told: string,
  record: Partial<ToolRecord> & Pick<ToolRecord, 'isError'>,
  secrets: readonly string[] = [],
): ToolStepEnd {
  const failed = record.isError === true;
  return {
    state: failed ? 'failed' : 'succeeded',
    errorMessage: failed ? ERROR : null,
    madeNow: true,
    record: { ...noResult(), ...shownArguments(tool.input, secrets), ...record },
    message: toolMessage(tool, told, failed),
  };
}

const ERROR = 'The tool answered with an error.';

export function heldEnd(tool: PendingTool, action: NonNullable<ToolRecord['action']>): ToolStepEnd {
  const { name } = action;
  const told = `Recorded for approval as ${name}, and not done: a person decides later, after this run. Go on without its result, and say in the result what waits. A later call of this run that needs a value of its result may contain {{${name}.result./pointer}}, with a JSON Pointer.`;
  return endNow(tool, told, { isError: false, action });
}

function answeredEnd(tool: PendingTool, { result, unusable, secrets }: Made<'answered'>): ToolStepEnd {
  const { record, text } = readResult(result, secrets);
  // Keep the tool's own words on record for a person, but not for the model, because the words may be wrong.
  if (unusable !== undefined) {
    const told = `The call was made and may have taken effect, but its answer cannot be used: ${unusable}.`;
    return {
      state: 'failed',
      errorMessage: sentence(unusable),
      record: { ...record, isError: true },
      message: toolMessage(tool, told, true),
    };
  }
  const failed = record.isError === true;
  return {
    state: failed ? 'failed' : 'succeeded',
    errorMessage: failed ? ERROR : null,
    record,
    message: toolMessage(tool, fenced(text), failed),
  };
}

function failedEnd(tool: PendingTool, { error, uncertain, secrets }: Made<'failed'>): ToolStepEnd {
  const { message, serverMessage } = error;
  const said = serverMessage === undefined ? undefined : redact(serverMessage, secrets);
  const told = [`The call failed: ${message}.`];
  if (uncertain) told.push(UNKNOWN);
  if (said !== undefined) told.push(fenced(said));
  return {
    state: uncertain ? 'outcome_unknown' : 'failed',
    errorMessage: sentence(message),
    record: { ...noResult(), ...(said === undefined ? {} : { result: said, resultLength: said.length }) },
    message: toolMessage(tool, told.join('\n'), true),
  };
}

/** Explains to the model of a rehearsal which answer its call gets. */
const REHEARSED = {
  schema:
    'Rehearsed: the call was checked and recorded, but not made, and nothing has changed. A made-up answer of the form that the tool declares stands in; none of its values is real.',
  earlier_answer:
    'Rehearsed: the call was checked and recorded, but not made, and nothing has changed. The answer to an earlier call stands in; it is not the answer to this one.',
  nothing:
    'Rehearsed: the call was checked and recorded, but not made, and nothing has changed. Nothing stands in for its answer; go on as if it had succeeded.',
} as const;

/** Returns the end of a rehearsal's call, which was not made. */
export function stagedEnd(
  tool: PendingTool,
  { standIn, text, secrets }: Omit<rehearsing.StagedCall, 'kind'>,
): ToolStepEnd {
  const shown = redact(text, secrets);
  const told = [REHEARSED[standIn], ...(shown === '' ? [] : [fenced(shown, 'The stand-in')])];
  const result = shown === '' ? {} : { result: cut(shown, SHOWN_LENGTH), resultLength: shown.length };
  return endNow(tool, told.join('\n'), { isError: false, rehearsed: standIn, ...result }, secrets);
}

function toolMessage(tool: PendingTool, value: string, failed: boolean): ModelMessage {
  const output = { type: failed ? ('error-text' as const) : ('text' as const), value };
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId: tool.callId, toolName: tool.name, output }] };
}

/** Returns the arguments of a call for display, without the given secrets and without texts that look like a secret. */
export function shownArguments(
  args: unknown,
  secrets: readonly string[],
): Pick<ToolRecord, 'arguments' | 'argumentsLength'> {
  const text = redact(JSON.stringify(args) ?? 'null', secrets);
  return { arguments: cut(text, SHOWN_LENGTH), argumentsLength: text.length };
}

/** The most characters of one result that a model gets. */
const MODEL_TEXT_LENGTH = 64_000;

function fenced(text: string, what = 'What the tool returned'): string {
  const shown = cut(text, MODEL_TEXT_LENGTH);
  const rest = text.length > shown.length ? `\n[cut here: ${text.length} characters in all]` : '';
  return fence(what, `${shown}${rest}`);
}
