import { isJsonObject } from '#lib/json.ts';

import { exampleFor } from './example-arguments.ts';
import { promptOf, textOf } from './request.ts';
import type { ChatRequest } from './request.ts';

/**
 * Makes the fixture's response where JSON of a schema is wanted, by the request or its text: what a line `DATA <json>`
 * of the task says, else an example of the schema.
 */
export function jsonAnswer(request: ChatRequest): string | undefined {
  const schema = request.response_format?.json_schema?.schema ?? schemaIn(promptOf(request));
  if (!isJsonObject(schema)) return undefined;
  const task = request.messages.find(({ role }) => role === 'user');
  const [, data] = /^DATA (.+)$/m.exec(task === undefined ? '' : textOf(task)) ?? [];
  return data ?? JSON.stringify(exampleFor(schema));
}

function schemaIn(prompt: string): unknown {
  const [, json] = /JSON Schema:\n\n(\{.*\})$/m.exec(prompt) ?? [];
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}
