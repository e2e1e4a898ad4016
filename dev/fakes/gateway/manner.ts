import { GatewayError } from './http.ts';
import type { ErrorFields } from './http.ts';
import type { Dialect } from './lists.ts';
import { RULES } from './rules.ts';
import type { Checked, Found, RuleName } from './rules.ts';
import type { Form } from './script.ts';

/** The behaviour in which one kind of server differs from others. */
export interface Manner {
  readonly list: Dialect;
  readonly errorBody: (error: ErrorFields) => unknown;
  /** Refusals of this server only, and refusals of every manner that this server words differently. */
  readonly refuses: Refusals;
  readonly unknownModel: Refusal;
  /** All fields that the server accepts; undefined if it ignores unknown fields. */
  readonly fields?: readonly string[];
  readonly messageFields?: Readonly<Record<string, readonly string[]>>;
  /** Limits of the output that the server obeys. The fixture's own manner ignores both. */
  readonly limits: readonly ('max_tokens' | 'max_completion_tokens')[];
  readonly form: Form;
  /** True if a grammar for the schema leaves no room for a call. */
  readonly schemaOverTools?: boolean;
  /** Tokens that the server keeps of a longer prompt, without an error. */
  readonly silentWindow?: number;
  /** True if call ids must be nine letters and digits. */
  readonly shortCallIds?: boolean;
  /** True if every stream states usage, requested or not. */
  readonly statesUsage?: boolean;
  /** True if a stream sends an error in a chunk that ends the choice with the reason `error`. */
  readonly errorInChunk?: boolean;
  /** Fields of the usage: those of OpenAI, those with the cost, or only the three sums. */
  readonly usage: 'openai' | 'cost' | 'sums';
}

/** A refusal. Values that the rule found replace `{name}` in its texts. */
interface Refusal {
  readonly message: string;
  /** Status of the response; 400 by default. */
  readonly status?: number;
  /** Type of the error; `invalid_request_error` by default. */
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
  /** Further fields of the error, filled with the values that the rule found. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Place of the fault, as pydantic states it. The message then becomes the error's `detail`. */
  readonly loc?: string;
}

type Refusals = Readonly<Partial<Record<RuleName, Refusal>>>;

/** The error of most chat templates about roles that do not alternate. */
export const ROLES = 'Conversation roles must alternate user/assistant/user/assistant/...';

/**
 * Refusals that the fake gives in every manner. No real server gives all of them, but each is copied from one that
 * does.
 */
const EVERYBODY: Refusals = {
  emptyMessages: {
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: 'messages',
    code: 'empty_array',
  },
  hollowMessage: {
    message: "Invalid value for 'content': expected a string, got null.",
    param: 'messages.[{index}].content',
  },
  lateSystem: { message: 'System message must be at the beginning.' },
  roleOrder: { message: ROLES },
  lastAssistant: {
    message: 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  },
  strayToolResult: {
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: 'messages.[{index}].role',
  },
  unansweredCalls: {
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
    param: 'messages',
  },
  doubledCallId: { message: 'Duplicate tool call id in assistant message' },
  badToolName: {
    message:
      "Invalid 'tools[{index}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: 'tools[{index}].function.name',
    code: 'invalid_value',
  },
  longToolName: {
    message:
      "Invalid 'tools[{index}].function.name': string too long. Expected a string with maximum length 64, but got a string with length {length} instead.",
    param: 'tools[{index}].function.name',
    code: 'string_above_max_length',
  },
  doubledToolName: { message: 'tools: Tool names must be unique.' },
};

/** Refuses a faulty request. @throws {GatewayError} for a request that a server of this manner would refuse */
export function checkRequest(manner: Manner, checked: Omit<Checked, 'fields' | 'messageFields'>) {
  const { fields, messageFields } = manner;
  const refusals: Refusals = { ...EVERYBODY, ...manner.refuses };
  for (const [name, rule] of Object.entries(RULES)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a key of RULES
    const refusal = refusals[name as RuleName];
    const found = refusal && rule({ ...checked, fields, messageFields });
    if (refusal && found) throw refused(refusal, found);
  }
}

export function refused(refusal: Refusal, found: Found): GatewayError {
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(found[name]));
  const { status = 400, type = 'invalid_request_error', code, param, extra = {}, loc } = refusal;
  const message = filled(refusal.message);
  return new GatewayError({
    status,
    message,
    type,
    code: code ?? null,
    param: param === undefined ? null : filled(param),
    extra: Object.fromEntries(Object.entries(extra).map(([field, name]) => [field, found[name]])),
    ...(loc === undefined
      ? {}
      : {
          detail: [
            {
              type: 'extra_forbidden',
              loc: placeOf(filled(loc)),
              msg: message,
              input: found['input'],
            },
          ],
        }),
  });
}

function placeOf(loc: string): (string | number)[] {
  return loc.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
