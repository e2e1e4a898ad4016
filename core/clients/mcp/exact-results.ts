import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/client';
import { createParser } from 'eventsource-parser';
import { mayBeExact } from '#lib/exact-json/parse.ts';
import { isJsonObject, parseJson, type JsonObject } from '#lib/json.ts';

/** The results of responses as their servers wrote them: the MCP library reads every number as a double. */
export interface ExactResults {
  /** Begins to read the body of a response with these headers. */
  reader(headers: Headers): BodyReader;
  /** Returns the result of a call with the structured content that was sent. */
  ofCall(result: CallToolResult): CallToolResult;
  /** Returns a page of tools with the schemas that were sent. */
  ofList(page: ListToolsResult): ListToolsResult;
}

export interface BodyReader {
  add(chunk: Uint8Array): void;
  end(): void;
}

/** Makes the results for a session, which has one request under way. */
export function createExactResults(): ExactResults {
  /** The latest result, where it may hold a number that is no double. */
  let latest: JsonObject | undefined;
  const note = (text: string) => {
    const messages = mayBeExact(text) ? [parseJson(text)].flat() : [];
    for (const message of messages) {
      if (isJsonObject(message) && isJsonObject(message['result'])) latest = message['result'];
    }
  };
  return {
    reader(headers) {
      latest = undefined;
      const isEvents = headers.get('content-type')?.includes('event-stream') === true;
      const events = createParser({ onEvent: ({ data }) => note(data) });
      const decoder = new TextDecoder();
      let text = '';
      return {
        add(chunk) {
          const part = decoder.decode(chunk, { stream: true });
          if (isEvents) events.feed(part);
          else text += part;
        },
        end: () => note(text),
      };
    },
    ofCall(result) {
      const exact = latest?.['structuredContent'];
      return exact === undefined || result.structuredContent === undefined
        ? result
        : { ...result, structuredContent: exact };
    },
    ofList(page) {
      const sent = latest?.['tools'];
      if (!Array.isArray(sent)) return page;
      const byName = new Map(
        sent
          .filter(isJsonObject)
          .toReversed()
          .map((tool) => [tool['name'], tool]),
      );
      return { ...page, tools: page.tools.map((tool) => Object.assign(tool, schemasOf(byName.get(tool.name)))) };
    },
  };
}

function schemasOf(tool: JsonObject = {}) {
  const { inputSchema, outputSchema } = tool;
  return { ...(isJsonObject(inputSchema) && { inputSchema }), ...(isJsonObject(outputSchema) && { outputSchema }) };
}
