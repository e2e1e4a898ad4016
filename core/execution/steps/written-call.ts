import type { ModelMessage } from 'ai';
import type { OfferedTool } from '#core/integrations/tools/index.ts';
import { isJsonObject, parseJson } from '#lib/json.ts';

/** Names the tool whose call is written in a text, in the markup of a model family or as JSON at its end. */
export function writtenCall(text: string, tools: readonly Pick<OfferedTool, 'name'>[]): string | undefined {
  if (tools.length === 0) return undefined;
  const names = new Set(tools.map(({ name }) => name));
  if (![...names].some((name) => text.includes(name))) return undefined;
  const said = withoutQuotations(text);
  return inMarkup(said, names) ?? inJson(said, names);
}

/**
 * Removes quoted code, which is code with more text after it. Code blocks named for tools stay: Gemini's models write
 * calls into such blocks.
 */
function withoutQuotations(text: string): string {
  const parts = text.split(/^([ \t]*(?:```|~~~)[^\n]*)$/m);
  const lastSaid = parts.findLastIndex((part) => part.trim() !== '');
  let said = '';
  for (let at = 0; at < parts.length; at += 4) {
    const [outside = '', opening = '', inside = ''] = parts.slice(at, at + 3);
    said += outside.replaceAll(/`[^`\n]+`/g, '');
    if (opening.includes('tool_') || (opening !== '' && lastSaid < at + 4)) said += `${opening}${inside}`;
  }
  return said.trim() === '' ? text : said;
}

/** Marks with which model families write calls that their server should have parsed. */
const MARKS = new RegExp(
  [
    // DSML of DeepSeek, with varying bars.
    String.raw`</?[|｜‖]{1,2} ?DSML ?[|｜‖]{1,2}\w*`,
    // Tags of Hermes, Qwen, GLM, Claude, MiniMax and Grok.
    String.raw`<(?:\w{2,10}:)?(?:tool_calls?|tool_use|function_calls?|invoke)\b|<function=`,
    // Special tokens of DeepSeek, Kimi, Granite, Gemma, Llama, Command and InternLM.
    String.raw`<[|｜] ?(?:tool|python_tag|start_action|action_start|plugin)[^>\n]{0,30}>?`,
    // Brackets and fences of Mistral, Gemini and older Qwen models.
    String.raw`\[(?:tool|function)_calls?\]|(?:${'```'}|~~~)tool_(?:code|calls?)|✿FUNCTION✿`,
    // Channels of gpt-oss, with their marks and without.
    String.raw`\bto=(?=functions\.)|<\|channel\|>[^<\n]{0,40}\bto=`,
    // Calls of ReAct, and of Kimi and Gemma without their tokens.
    String.raw`^Action:(?=[^\n]*\n\s*Action Input:)|^functions\.(?=[\w-]+\()|^call:(?=[\w-]+\{)`,
  ].join('|'),
  'gim',
);

/** Number of characters after a mark that are searched for the name of its tool. */
const REACH = 300;

/** Number of marks that are examined. */
const MOST_MARKS = 50;

function inMarkup(text: string, names: ReadonlySet<string>): string | undefined {
  let marks = 0;
  for (const { 0: mark, index } of text.matchAll(MARKS)) {
    if ((marks += 1) > MOST_MARKS) return undefined;
    const behind = text.slice(index + mark.length, index + mark.length + REACH);
    const first =
      /^\W*(?:function\W+|default_api\.|print\(|functions\.)*([\w-]+)(?:\.call\(|\s*(?:[\n({<>[:;]|$))/i.exec(
        behind,
      )?.[1];
    if (first !== undefined && names.has(first)) return first;
    for (const [, name] of behind.matchAll(/["'=.:>]([\w-]+)(?=["'\s({<>:,)]|$)/g)) {
      if (name !== undefined && names.has(name)) return name;
    }
  }
  return undefined;
}

const NAME_FIELDS = ['name', 'tool', 'tool_name', 'toolName', 'function', 'function_name', 'action', 'recipient_name'];
const ARGUMENT_FIELDS = ['arguments', 'parameters', 'args', 'params', 'input', 'action_input', 'tool_input'];

/** The most places that are tried as the beginning of JSON. */
const MOST_PLACES = 8;

function inJson(text: string, names: ReadonlySet<string>): string | undefined {
  const said = text.replace(/^[ \t]*(?:```|~~~)\w*$/gm, '').trim();
  const begins = /[}\]]$/.test(said) ? placesOf(said, /(?<![\w"'{[,:}\]])[{[]/g).map((at) => said.slice(at)) : [];
  const ends = /^[{[]/.test(said) ? placesOf(said, /[}\]](?=[ \t]*(?:\n|$))/g).map((at) => said.slice(0, at + 1)) : [];
  for (const candidate of [...begins, ...ends]) {
    const value = parseJson(candidate);
    if (value !== undefined) return callIn(value, names);
  }
  return undefined;
}

function placesOf(text: string, pattern: RegExp): number[] {
  const places: number[] = [];
  for (const { index } of text.matchAll(pattern)) if (places.push(index) === MOST_PLACES) break;
  return places;
}

function callIn(value: unknown, names: ReadonlySet<string>, depth = 0): string | undefined {
  if (depth > 3) return undefined;
  if (Array.isArray(value))
    return value.map((each) => callIn(each, names, depth + 1)).find((name) => name !== undefined);
  if (!isJsonObject(value)) return undefined;
  const name = NAME_FIELDS.map((field) => value[field]).find((each) => typeof each === 'string');
  const called = name?.replace(/^functions\./, '');
  const hasArguments = ARGUMENT_FIELDS.some((field) => isJsonObject(value[field]) || typeof value[field] === 'string');
  if (called !== undefined && names.has(called) && hasArguments) return called;
  return callIn(
    value['tool_calls'] ?? value['tool_call'] ?? value['function'] ?? value['function_call'],
    names,
    depth + 1,
  );
}

/** Asks a model, once, to make the call that it wrote as text. The request is kept with the step of that text. */
export const CALL_REQUEST = {
  role: 'user',
  content:
    'You wrote a tool call as text, so it was not made. Call the tool through the interface for tool calls, or write the result without it.',
} as const satisfies ModelMessage;

export function wasAskedToCall(transcript: readonly ModelMessage[]): boolean {
  return transcript.some(({ role, content }) => role === CALL_REQUEST.role && content === CALL_REQUEST.content);
}
