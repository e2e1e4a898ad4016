import { isJsonObject } from '#lib/json.ts';

import { outputLimitOf } from './models.ts';
import type { FixtureModel } from './models.ts';
import { textOf } from './request.ts';
import type { ChatMessage, ChatRequest } from './request.ts';

export interface Checked {
  readonly request: ChatRequest;
  readonly model: FixtureModel | undefined;
  readonly promptTokens: () => number;
  /** Fields that the server accepts, in the body and in messages by role; undefined for any. */
  readonly fields?: readonly string[] | undefined;
  readonly messageFields?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Values that a rule found, for the words of the refusal. */
export type Found = Readonly<Record<string, unknown>>;

/** Looks for one fault of a request. */
type Rule = (checked: Checked) => Found | undefined;

/**
 * Every fault that some server refuses, in the order of the checks. manner.ts has the words of the refusals that all
 * manners share; each manner has the words of its own refusals.
 */
export const RULES = {
  unknownField: ({ request, fields }) =>
    firstOf(Object.entries(request), ([field, input]) =>
      fields === undefined || fields.includes(field) ? undefined : { field, input },
    ),
  unknownMessageField: ({ request, messageFields }) =>
    firstOf(request.messages, (message, index) =>
      firstOf(Object.entries(message), ([field, input]) =>
        messageFields?.[message.role]?.includes(field) === false
          ? { index, role: message.role, field, input }
          : undefined,
      ),
    ),
  maxTokens: ({ request: { max_tokens: limit } }) => (limit == null ? undefined : { limit }),
  temperature: ({ request: { temperature } }) =>
    temperature == null || temperature === 1 ? undefined : { temperature },
  effort: ({ request }) => (request['reasoning_effort'] == null ? undefined : {}),
  streaming: ({ request }) => (request.stream === true ? {} : undefined),
  streamOptions: ({ request }) => (request.stream_options == null ? undefined : {}),
  streamOptionsAlone: ({ request }) => (request.stream_options != null && request.stream !== true ? {} : undefined),

  emptyMessages: ({ request }) => (request.messages.length === 0 ? {} : undefined),
  hollowMessage: ({ request }) =>
    firstOf(request.messages, (message, index) => {
      const speaks = message.role === 'tool' || textOf(message).trim() !== '';
      return speaks || callsOf(message).length > 0 ? undefined : { index, role: message.role };
    }),
  lateSystem: ({ request }) =>
    firstOf(request.messages, ({ role }, index) => (role === 'system' && index > 0 ? { index } : undefined)),
  roleOrder: ({ request }) => {
    const turns = request.messages.filter(({ role }) => role !== 'system');
    return firstOf(turns, ({ role }, index) => {
      const before = turns[index - 1]?.role ?? 'assistant';
      return role === before && role !== 'tool' ? { role, before } : undefined;
    });
  },
  lastAssistant: ({ request }) => (request.messages.at(-1)?.role === 'assistant' ? {} : undefined),
  userAfterTool: ({ request: { messages } }) =>
    firstOf(messages, ({ role }, index) =>
      role === 'user' && messages[index - 1]?.role === 'tool' ? { index } : undefined,
    ),

  strayToolResult: ({ request }) => firstOf(exchangesOf(request.messages), ({ stray }) => stray[0]),
  unansweredCalls: ({ request }) =>
    firstOf(exchangesOf(request.messages), ({ open }) => (open.length > 0 ? { ids: open.join(', ') } : undefined)),
  doubledCallId: ({ request }) =>
    firstOf(request.messages, (message, index) => {
      const id = doubledOf(callsOf(message).map((call) => call.id));
      return id === undefined ? undefined : { index, id };
    }),
  foreignCallId: ({ request }) =>
    firstOf(request.messages.flatMap(callsOf), ({ id }) => (/^[a-zA-Z0-9]{9}$/.test(id) ? undefined : { id })),
  brokenArguments: ({ request }) =>
    firstOf(request.messages.flatMap(callsOf), ({ function: { name, arguments: text } }) =>
      isObjectText(text) ? undefined : { name, text },
    ),
  lostReasoning: (checked) => lostIn(checked, 'reasoning_content'),
  lostDetails: (checked) => lostIn(checked, 'reasoning_details'),
  lostSignature: ({ request, model }) =>
    firstOf(request.messages, (message, index) => {
      const [call] = callsOf(message);
      if (model?.reasons !== true || call === undefined) return undefined;
      const google = isJsonObject(call['extra_content']) ? call['extra_content']['google'] : {};
      const isSigned = isJsonObject(google) && typeof google['thought_signature'] === 'string';
      return isSigned ? undefined : { index: index + 1, name: call.function.name };
    }),

  emptyTools: ({ request }) => (request.tools?.length === 0 ? {} : undefined),
  choiceWithoutTools: ({ request }) =>
    firstOf(['tool_choice', 'parallel_tool_calls'], (field) =>
      request[field] != null && request.tools == null ? { field } : undefined,
    ),
  callsWithoutTools: ({ request }) =>
    request.tools == null && request.messages.some((message) => callsOf(message).length > 0) ? {} : undefined,
  badToolName: ({ request }) =>
    firstOf(toolsOf(request), ({ name }, index) =>
      /^[a-zA-Z0-9_-]*$/.test(name) && name !== '' ? undefined : { index, name },
    ),
  longToolName: ({ request }) =>
    firstOf(toolsOf(request), ({ name }, index) =>
      name.length > 64 ? { index, name, length: name.length } : undefined,
    ),
  doubledToolName: ({ request }) => {
    const name = doubledOf(toolsOf(request).map((tool) => tool.name));
    return name === undefined ? undefined : { name };
  },
  parametersNoObject: ({ request }) =>
    firstOf(toolsOf(request), ({ name, parameters }) => {
      if (parameters == null) return undefined;
      const type = isJsonObject(parameters) ? parameters['type'] : undefined;
      return type === 'object' ? undefined : { name, type: type ?? 'None' };
    }),
  arrayWithoutItems: ({ request }) =>
    firstOf(toolsOf(request), ({ name, parameters }, index) => {
      const place = placeOfBareArray(parameters);
      return place && { name, index, place: place.map((part) => `'${part}'`).join(', ') };
    }),
  schemaKeyword: ({ request }) =>
    firstOf(toolsOf(request), ({ parameters }, index) =>
      isJsonObject(parameters) && '$schema' in parameters ? { index } : undefined,
    ),
  freeToolChoice: ({ request: { tools, tool_choice: choice } }) =>
    tools != null && (choice ?? 'auto') === 'auto' ? {} : undefined,
  toolsWithSchema: ({ request }) =>
    toolsOf(request).length > 0 && (request.response_format?.type ?? 'text') !== 'text' ? {} : undefined,
  schema: ({ request, model }) =>
    request.response_format?.type === 'json_schema' && model?.structured !== true ? {} : undefined,

  longPrompt: ({ model, promptTokens }) => {
    const window = model?.context_length ?? Infinity;
    const prompt = promptTokens();
    return prompt >= window ? { prompt, window } : undefined;
  },
  longOutput: ({ request, model, promptTokens }) => {
    const limit = request.max_completion_tokens ?? request.max_tokens ?? 0;
    const window = model?.context_length ?? Infinity;
    const prompt = promptTokens();
    return prompt + limit > window ? { prompt, limit, window, total: prompt + limit } : undefined;
  },
  largeOutput: ({ request, model }) => {
    const limit = request.max_completion_tokens ?? request.max_tokens ?? 0;
    const most = model === undefined ? Infinity : outputLimitOf(model);
    return limit > most ? { limit, most } : undefined;
  },
} satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

interface Exchange {
  /** Results of tools for which no call is open. */
  readonly stray: { readonly index: number; readonly id: string }[];
  /** Calls without a result. */
  readonly open: string[];
}

/** Pairs the calls of each assistant turn with the results directly after it. */
function exchangesOf(messages: readonly ChatMessage[]): Exchange[] {
  const exchanges: Exchange[] = [];
  let current: Exchange = { stray: [], open: [] };
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      const at = current.open.indexOf(id);
      if (at === -1) current.stray.push({ index, id });
      else current.open.splice(at, 1);
      return;
    }
    exchanges.push(current);
    current = { stray: [], open: callsOf(message).map(({ id }) => id) };
  });
  return [...exchanges, current];
}

/** Finds a turn with calls whose reasoning the client has not sent back. */
function lostIn({ request, model }: Checked, field: string): Found | undefined {
  return firstOf(request.messages, (message, index) => {
    const [call] = callsOf(message);
    return model?.reasons === true && call !== undefined && message[field] == null
      ? { index: index + 1, name: call.function.name }
      : undefined;
  });
}

function callsOf({ tool_calls: calls }: ChatMessage) {
  return calls ?? [];
}

function toolsOf({ tools }: ChatRequest) {
  return (tools ?? []).map((tool) => tool.function);
}

/** Finds an array in a schema that does not describe its items. */
function placeOfBareArray(schema: unknown, place: readonly string[] = []): readonly string[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema['type'] === 'array' && schema['items'] === undefined) return place;
  const { properties } = schema;
  for (const [name, each] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const found = placeOfBareArray(each, [...place, 'properties', name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function doubledOf(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => Found | undefined,
): Found | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
