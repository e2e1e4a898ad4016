import { shown } from '#lib/exact-json/faults.ts';
import { findExact, sendAsText } from '#lib/exact-json/parse.ts';
import { isJsonObject } from '#lib/json.ts';
import { operations, type CalculateOutcome, type Operation } from './operations.ts';

interface CalculateTool {
  readonly name: 'calculate';
  readonly description: string;
  /** JSON Schema of the arguments. It is flat, because some gateways refuse `oneOf` at the top of a tool's input. */
  readonly inputSchema: Record<string, unknown>;
  /** Computes one operation. Never throws: an error is returned as a result that says what to send instead. */
  execute(args: unknown): CalculateOutcome;
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(Object.entries(operations));
const NAMES = [...OPERATIONS.keys()];
/** The most operations in one call. A forecast takes some ten milliseconds, and the worker does nothing else meanwhile. */
const MAX_CALLS = 10;
const SEVERAL = 'several';

/** The built-in, read-only tool for numbers that have to be right. It uses no clock, network or state. */
export const calculateTool: CalculateTool = {
  name: 'calculate',
  description: [
    'Computes instead of estimating. Choose an operation and send only its fields:',
    'arithmetic {expression, variables?}: exact decimals;',
    'wilson {successes, total}: interval of a rate;',
    'two_proportions {successesA, totalA, successesB, totalB}: difference B - A, its interval, z and p;',
    'sample_size {baseline, target}: units for each arm;',
    'percent_change {before, after, counts?}: with counts: true also an interval;',
    'pacing {plan, spent, daysElapsed, daysTotal}: projection, money per day left, range;',
    'mase {training, actual, forecast, season}: forecast error against the seasonal naive method;',
    'list_diff {earlier, later}: lines added, removed, kept;',
    'series {values, quantiles?, weight?, compare?}: mean, sd, median, MAD, quantiles, EWMA, z;',
    'forecast {values, horizon, season?}: seasonal naive, damped trend and two more, each scored on the past, with a range;',
    'log_split {factors}: what each factor of a product adds to its change;',
    'mix_rate {segments}: a change of a rate by rates inside segments and by their mix;',
    'text_overlap {textA, textB, words?}: share of word runs in common;',
    'hash {texts}: fingerprints;',
    `${SEVERAL} {calls}: up to ${MAX_CALLS} of these at once, answered in order.`,
    'Rates are 0 to 1. Results have six significant digits or more.',
  ].join(' '),
  inputSchema: inputSchema(),
  execute(args) {
    const exact = findExact(args);
    if (exact !== undefined) {
      const { path, number } = exact;
      // Variables are decimals, which may also be sent as text.
      const how = path.includes('variables') ? sendAsText(number) : 'send at most 15 digits of this number';
      return { ok: false, error: `${shown(path)}: ${how}` };
    }
    const { operation, ...fields } = isJsonObject(args) ? args : {};
    return operation === SEVERAL ? executeAll(fields) : executeOne(operation, fields);
  },
};

function executeOne(name: unknown, fields: object): CalculateOutcome {
  const operation = typeof name === 'string' ? OPERATIONS.get(name) : undefined;
  if (operation === undefined) {
    return { ok: false, error: `operation must be one of ${[...NAMES, SEVERAL].join(', ')}` };
  }
  const outcome = operation.run(fields);
  return outcome.ok ? outcome : { ok: false, error: `${String(name)}: ${outcome.error}` };
}

/** Executes each operation separately: if one fails, the others still return their results. */
function executeAll({ calls, ...others }: { calls?: unknown }): CalculateOutcome {
  const listed = Array.isArray(calls) && calls.every(isJsonObject) ? calls : [];
  if (listed.length === 0 || listed.length > MAX_CALLS || Object.keys(others).length > 0) {
    const form = `calls: [{operation, …its fields}], 1 to ${MAX_CALLS} of them`;
    return { ok: false, error: `${SEVERAL} takes only ${form}` };
  }
  const results = listed.map(({ operation, ...fields }) => executeOne(operation, fields));
  return { ok: true, result: { results } };
}

function inputSchema(): Record<string, unknown> {
  const fields = Object.values(operations).flatMap(({ properties }) => Object.entries(properties));
  return {
    type: 'object',
    properties: {
      operation: { type: 'string', enum: [...NAMES, SEVERAL] },
      ...Object.fromEntries(fields),
      calls: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_CALLS,
        // Leave out the fields of the operations, which are listed above: repeating them would cost every request a
        // thousand tokens.
        items: {
          type: 'object',
          properties: { operation: { type: 'string', enum: NAMES } },
          required: ['operation'],
        },
        description: `${SEVERAL}: each an operation with its fields.`,
      },
    },
    required: ['operation'],
    additionalProperties: false,
  };
}
