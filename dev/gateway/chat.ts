import type { ServerResponse } from 'node:http';

import { z } from 'zod';

import { completion, completionBody, completionEvents } from './completion.ts';
import {
  cutBeforeAnswer,
  cutMidway,
  hang,
  sendEndlessly,
  sendMalformed,
  sendScriptedError,
} from './faults.ts';
import type { Answer } from './faults.ts';
import { GatewayError, invalid, send, waited } from './http.ts';
import { FIXTURE_MODELS } from './models.ts';
import { obedientReply } from './obey.ts';
import { callsReply, naturalReply, textReply, toolCall } from './reply.ts';
import type { Reply } from './reply.ts';
import { ChatRequest, lastToolText, promptOf } from './request.ts';
import type { Behaviour, ScriptQueue } from './script.ts';
import { usageOf } from './usage.ts';

/** Serves `POST /v1/chat/completions`, as scripted or else with the fixture's own response. */
export async function answerChat(
  response: ServerResponse,
  body: unknown,
  scripts: ScriptQueue,
): Promise<void> {
  const parsed = ChatRequest.safeParse(body);
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  const request = parsed.data;
  const script = scripts.take({
    target: 'chat',
    model: request.model,
    prompt: () => promptOf(request),
  });
  if (script === undefined && !FIXTURE_MODELS.some(({ id }) => id === request.model)) {
    throw new GatewayError(
      404,
      'invalid_request_error',
      'model_not_found',
      `The model ${request.model} does not exist.`,
    );
  }
  if (script && !(await waited(response, script.latencyMs, script.released))) return;
  await deliver(response, request, script?.behaviour ?? { kind: 'normal' });
}

async function deliver(
  response: ServerResponse,
  request: ChatRequest,
  behaviour: Behaviour,
): Promise<void> {
  if (behaviour.kind === 'error') return sendScriptedError(response, behaviour);
  if (behaviour.kind === 'reset') return cutBeforeAnswer(response);
  const answer = answerTo(request, behaviour);
  switch (behaviour.kind) {
    case 'hang':
      return hang(response, answer, behaviour.afterChunks);
    case 'broken-stream':
      return cutMidway(response, answer, behaviour.afterChunks);
    case 'malformed-json':
      return sendMalformed(response, answer);
    case 'endless':
      return sendEndlessly(response, answer, behaviour.chunkDelayMs);
    default:
      return sendWhole(response, answer);
  }
}

function answerTo(request: ChatRequest, behaviour: Behaviour): Answer {
  const model = FIXTURE_MODELS.find(({ id }) => id === request.model);
  const reply = replyTo(request, behaviour, model?.reasons ?? false);
  const usage =
    behaviour.kind === 'usage' ? (behaviour.usage ?? undefined) : usageOf(request, reply, model);
  const whole = completion(request.model, reply, usage);
  const body = (): string => completionBody(whole);
  if (!request.stream) return { body };
  const includeUsage = request.stream_options?.include_usage ?? false;
  return { body, events: () => completionEvents(whole, includeUsage) };
}

function replyTo(request: ChatRequest, behaviour: Behaviour, reasons: boolean): Reply {
  switch (behaviour.kind) {
    case 'text': {
      const { text, reasoning, finishReason } = behaviour;
      return { text, calls: [], finishReason, ...(reasoning === undefined ? {} : { reasoning }) };
    }
    case 'tool-calls':
      return {
        ...callsReply(
          behaviour.calls.map(({ id, name, arguments: args }, index) => {
            const text = typeof args === 'string' ? args : JSON.stringify(args);
            const call = toolCall(request, index, name, text);
            return id === undefined ? call : { ...call, id };
          }),
          behaviour.text,
        ),
        finishReason: behaviour.finishReason,
      };
    case 'repeat':
      return textReply(lastToolText(request));
    case 'obey':
      return obedientReply(request, reasons);
    default:
      return naturalReply(request, reasons);
  }
}

function sendWhole(response: ServerResponse, { events, body }: Answer): void {
  if (events === undefined) send(response, 200, 'application/json', body());
  else {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.end(events().join(''));
  }
}
