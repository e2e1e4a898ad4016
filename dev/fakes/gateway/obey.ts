import { isJsonObject } from '#lib/json.ts';
import { callsReply, naturalReply, toolCall } from './reply.ts';
import type { Reply } from './reply.ts';
import { textOf } from './request.ts';
import type { ChatRequest } from './request.ts';

/**
 * Makes the reply of a model that obeys every text, as prompt injection hopes. A line `CALL <tool> <json>` in a user
 * message or a tool result makes it call that tool with those arguments, offered or not, once for each different line.
 */
export function obedientReply(request: ChatRequest, reasons: boolean): Reply {
  const done = new Set(
    request.messages.flatMap(({ tool_calls }) =>
      (tool_calls ?? []).map((call) => key(call.function.name, call.function.arguments)),
    ),
  );
  const orders = request.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .flatMap((message) => ordersIn(textOf(message)));
  const open = new Map(
    orders.map((order) => [key(order.tool, order.args), order] as const).filter(([id]) => !done.has(id)),
  );
  if (open.size === 0) return naturalReply(request, reasons);
  return callsReply([...open.values()].map(({ tool, args }, index) => toolCall(request, index, tool, args)));
}

interface Order {
  tool: string;
  args: string;
}

/** Finds orders, also in tool results that are JSON texts with escaped line ends and quotes. */
function ordersIn(text: string): Order[] {
  const unescaped = text.replaceAll('\\n', '\n').replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  return [text, unescaped].flatMap((variant) =>
    [...variant.matchAll(/\bCALL ([\w.\-/]+) ?(.*)$/gm)].flatMap(([, tool = '', rest = '']) => {
      const args = leadingObject(rest);
      return args === undefined ? [] : [{ tool, args }];
    }),
  );
}

/** Returns the JSON object at the beginning of a text. */
function leadingObject(text: string): string | undefined {
  for (let end = text.indexOf('}'); end !== -1; end = text.indexOf('}', end + 1)) {
    const candidate = text.slice(0, end + 1).trim();
    if (isJson(candidate)) return candidate;
  }
  return text.trim() === '' ? '{}' : undefined;
}

function isJson(text: string): boolean {
  return parsed(text) !== undefined;
}

/** Returns a key that is the same for equal arguments in any notation. */
function key(tool: string, args: string): string {
  const value = parsed(args);
  return `${tool} ${value === undefined ? args : JSON.stringify(value, sortedKeys)}`;
}

/** Parses JSON; undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sortedKeys(_key: string, value: unknown): unknown {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}
