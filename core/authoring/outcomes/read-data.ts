import type { ModelMessage } from 'ai';
import { SchemaError, schemaFault } from '#core/clients/json-schemas/index.ts';
import type { ResultForm } from '#core/authoring/definition/index.ts';
import { FINISH } from '#core/integrations/tools/index.ts';
import { storableJson } from '#lib/database/index.ts';
import { jsonFault } from '#lib/exact-json/faults.ts';
import { parseExact } from '#lib/exact-json/parse.ts';
import { readItems } from './items.ts';

/** The data of a result, or the fault of its text. */
export type ReadData = { readonly ok: true; readonly data: unknown } | { readonly ok: false; readonly issue: string };

/** The most data of a result, as JSON in bytes of UTF-8. */
const MAX_DATA_BYTES = 256 * 1024;

/** Reads data from a text and checks it against the form. The text is JSON, or contains JSON in one Markdown fence. */
export async function readData(projectId: string, text: string, { schema, key }: ResultForm): Promise<ReadData> {
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const { data } = parsed;
  try {
    const issue = await schemaFault(projectId, schema, data);
    if (issue !== undefined) return fault(issue);
    const items = readItems(data, key);
    return items.ok ? parsed : items;
  } catch (error) {
    if (error instanceof SchemaError) return fault(`it could not be checked: ${error.message}`);
    if (error instanceof RangeError) return fault('it is nested too deeply');
    throw error;
  }
}

/** Matches a fence. Words around the fence are the model's own, and not part of the result. */
const FENCED = /(?:^|\n)```(?:json)?[ \t]*\r?\n([\s\S]*?)\n```(?=\s|$)/gi;

/** Parses the text into the value that Postgres would store. */
function parse(text: string): ReadData {
  const fences = [...text.matchAll(FENCED)];
  const json = (fences.length === 1 ? fences[0]?.[1] : undefined) ?? text;
  try {
    const value = parseExact(json);
    const lost = jsonFault(json, value);
    if (lost !== undefined) return fault(lost);
    const stored = storableJson(value);
    if (Buffer.byteLength(stored) > MAX_DATA_BYTES) {
      return fault(`it is larger than ${MAX_DATA_BYTES / 1024} kB as JSON`);
    }
    return { ok: true, data: parseExact(stored) };
  } catch (error) {
    if (error instanceof SyntaxError) return fault('it is not JSON');
    if (error instanceof RangeError) return fault('it is nested too deeply');
    throw error;
  }
}

function fault(issue: string): ReadData {
  return { ok: false, issue };
}

/** Asks a model for its result again, in a user message or in the response that its last tool call needs. */
export function repairRequest(
  issue: string,
  calls: readonly { readonly callId: string; readonly name: string }[],
): ModelMessage[] {
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

/** Tells whether a message asks for a repair of a result. Only the service itself makes such messages. */
export function asksForRepair(message: ModelMessage): boolean {
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

/** Tells whether the next step repairs a result that was written as text. Such a step needs no tools. */
export function repairsText(transcript: readonly ModelMessage[]): boolean {
  const last = transcript.at(-1);
  return last !== undefined && asksForText(last);
}
