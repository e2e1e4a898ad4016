import { SchemaError, schemaFault } from '#core/json-schemas/index.ts';
import type { ResultForm } from '#core/definition/index.ts';
import { storableJson } from '#lib/database/index.ts';
import { readItems } from './items.ts';

/** The data of a result, or the fault of its text. */
export type ReadData =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly issue: string };

/** Limit of the data of a result, as JSON in bytes of UTF-8. */
const MAX_DATA_BYTES = 256 * 1024;

/**
 * Reads data from a text and checks it against the form. The text is JSON, or holds one Markdown fence with it.
 */
export async function readData(
  projectId: string,
  text: string,
  { schema, key }: ResultForm,
): Promise<ReadData> {
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

/** Matches a fence; words around it are the model's, not the result's. */
const FENCED = /(?:^|\n)```(?:json)?[ \t]*\r?\n([\s\S]*?)\n```(?=\s|$)/gi;

/** Parses the text into the value that the tables would store. */
function parse(text: string): ReadData {
  const fences = [...text.matchAll(FENCED)];
  const json = (fences.length === 1 ? fences[0]?.[1] : undefined) ?? text;
  try {
    const stored = storableJson(JSON.parse(json));
    if (Buffer.byteLength(stored) > MAX_DATA_BYTES) {
      return fault(`it is larger than ${MAX_DATA_BYTES / 1024} kB as JSON`);
    }
    return { ok: true, data: JSON.parse(stored) };
  } catch (error) {
    if (error instanceof SyntaxError) return fault('it is not JSON');
    if (error instanceof RangeError) return fault('it is nested too deeply');
    throw error;
  }
}

function fault(issue: string): ReadData {
  return { ok: false, issue };
}
