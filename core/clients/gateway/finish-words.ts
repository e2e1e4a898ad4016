import { cut } from '#lib/text.ts';

/**
 * Classes of finish reasons: `whole` and `calls` end well, `calls` only with a call in the response. In all other
 * classes the response was cut at a limit, withheld by the provider, or broke off. An `unknown` word counts as broken
 * off: the step asks again, because nothing proves that the response is complete.
 */
export type FinishClass = 'whole' | 'calls' | 'cut' | 'withheld' | 'broken' | 'unknown';

/** The word shown on a step whose response gave no reason. */
export const NO_REASON = 'none';

/** The finish reason of a response in which the model refused through its own field for refusals. */
export const REFUSED = 'refusal';

const GOOD_ENDS: Readonly<Record<string, FinishClass>> = {
  stop: 'whole',
  eos: 'whole',
  eos_token: 'whole',
  end_turn: 'whole',
  stop_sequence: 'whole',
  [NO_REASON]: 'whole',
  tool_calls: 'calls',
  tool_call: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
};

/**
 * Words of bad finish reasons; the first match counts. `context_canceled` and `context_deadline_exceeded` are Go's
 * words about a connection; any other `context` is the window of the model.
 */
const BAD_ENDS: readonly (readonly [FinishClass, RegExp])[] = [
  [
    'withheld',
    /filter|safety|recitation|refus|sensitive|blocklist|blocked|prohibit|spii|moderat|guardrail|policy|toxic|harmful|copyright|^language$/,
  ],
  ['broken', /cancel|abort|interrupt|deadline|time_?d?_?out|network|disconnect|malformed|exception|fail/],
  ['cut', /context|(^|_)length(_|$)|max(imum)?_(\w+_)?(tokens?|output)|tokens?_limit|output_limit|truncat/],
  ['broken', /error|insufficient|unavailable|overload|rate_?limit|quota|invalid|unexpected|too_many_tool_calls/],
];

/** Returns the class of a finish reason. Upper or lower case and the characters between its words do not matter. */
export function finishClass(word: string): FinishClass {
  const name = word
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '_')
    .replace(/^_*(?:(?:finish|stop)_?reason_)*/, '')
    .replace(/_$/, '');
  if (Object.hasOwn(GOOD_ENDS, name)) return GOOD_ENDS[name] ?? 'unknown';
  return BAD_ENDS.find(([, words]) => words.test(name))?.[0] ?? 'unknown';
}

/** Tells whether a finish reason says that the response is complete. */
export function isGoodEnd(word: string): boolean {
  const kind = finishClass(word);
  return kind === 'whole' || kind === 'calls';
}

/** Length at which a finish reason is cut, because the step shows it. */
const MAX_WORD = 60;

/**
 * Reads the server's own finish reason of a choice; undefined if there is none. Some servers write `null` as a text.
 */
export function finishWord(reason: unknown): string | undefined {
  if (reason === undefined || reason === null) return undefined;
  const word = (typeof reason === 'string' ? reason : JSON.stringify(reason)).replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return word === '' || /^(null|none)$/i.test(word) ? undefined : cut(word, MAX_WORD);
}

/** Says how an incomplete response ended. */
export function brokenInWords(word: string): string {
  return finishClass(word) === 'calls'
    ? `The model provider ended its response for tool calls ("${word}") without sending one.`
    : `The model provider ended its response with "${word}".`;
}
