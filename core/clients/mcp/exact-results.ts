import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/client';
import { createParser } from 'eventsource-parser';
import { mayBeExact } from '#lib/exact-json/parse.ts';
import { isJsonObject, parseJson, type JsonObject } from '#lib/json.ts';

/** The results of responses as their servers wrote them: the MCP library reads every number as a double. */
export interface ExactResults {
  /** Reads along a response to a request. */
  readAlong(response: Response): Response;
  /** Returns the result of a call with the structured content that was sent. */
  ofCall(result: CallToolResult): CallToolResult;
  /** Returns a page of tools with the schemas that were sent. */
  ofList(page: ListToolsResult): ListToolsResult;
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
    readAlong(response) {
      latest = undefined;
      const { body, status, statusText, headers } = response;
      if (body === null) return response;
      const isEvents = headers.get('content-type')?.includes('event-stream') === true;
      const events = createParser({ onEvent: ({ data }) => note(data) });
      const decoder = new TextDecoder();
      let text = '';
      const along = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const part = decoder.decode(chunk, { stream: true });
          if (isEvents) events.feed(part);
          else text += part;
          controller.enqueue(chunk);
        },
        flush: () => note(text),
      });
      return new Response(body.pipeThrough(along), { status, statusText, headers });
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
