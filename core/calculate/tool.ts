import { isJsonObject } from '#lib/json.ts';
import { operations, type CalculateOutcome, type Operation } from './operations.ts';

export interface CalculateTool {
  readonly name: 'calculate';
  readonly description: string;
  /** JSON Schema. Flat, because some gateways refuse `oneOf` at the top of a tool's input. */
  readonly inputSchema: Record<string, unknown>;
  /** Computes one operation. Never throws: an error comes back as a result that says what to send instead. */
  execute(args: unknown): CalculateOutcome;
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(Object.entries(operations));
const NAMES = [...OPERATIONS.keys()];

/** The built-in, read-only tool for numbers that have to be right. It knows no clock, no network and no state. */
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
    'list_diff {earlier, later}: lines added, removed, kept.',
    'Rates are 0 to 1. Results have six significant digits or more.',
  ].join(' '),
  inputSchema: inputSchema(),
  execute(args) {
    const { operation: name, ...fields } = isJsonObject(args) ? args : {};
    const operation = typeof name === 'string' ? OPERATIONS.get(name) : undefined;
    if (operation === undefined) {
      return { ok: false, error: `operation must be one of ${NAMES.join(', ')}` };
    }
    const outcome = operation.run(fields);
    return outcome.ok ? outcome : { ok: false, error: `${String(name)}: ${outcome.error}` };
  },
};

function inputSchema(): Record<string, unknown> {
  const fields = Object.values(operations).flatMap(({ properties }) => Object.entries(properties));
  return {
    type: 'object',
    properties: { operation: { type: 'string', enum: NAMES }, ...Object.fromEntries(fields) },
    required: ['operation'],
    additionalProperties: false,
  };
}
