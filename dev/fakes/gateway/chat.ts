import type { ServerResponse } from 'node:http';

import { z } from 'zod';

import { completion, completionBody, completionEvents, cutReply, errorEvent, formed, usageIn } from './completion.ts';
import { demoReply } from './demo-reply.ts';
import {
  cutBeforeAnswer,
  cutMidway,
  hang,
  sendEndlessly,
  sendLoading,
  sendMalformed,
  sendRaw,
  sendScriptedError,
  stopAt,
} from './faults.ts';
import type { Answer } from './faults.ts';
import { GatewayError, send, waited } from './http.ts';
import { checkRequest, refused } from './manner.ts';
import type { Manner } from './manner.ts';
import { failureIn } from './failures.ts';
import { FIXTURE_MODELS } from './models.ts';
import type { FixtureModel } from './models.ts';
import { obedientReply } from './obey.ts';
import { callsReply, naturalReply, schemaReply, textReply, toolCall } from './reply.ts';
import type { Reply } from './reply.ts';
import { ChatRequest, lastToolText, promptOf } from './request.ts';
import type { Behaviour, Form, ScriptQueue } from './script.ts';
import { cutPrompt, promptTokensOf, usageOf } from './usage.ts';
import type { Usage } from './usage.ts';

/** The inputs of an answer in addition to its request. */
interface Surroundings {
  readonly scripts: ScriptQueue;
  readonly manner: Manner;
  /** Exchanges the request for that of another caller. */
  readonly swap: (request: ChatRequest) => Promise<ChatRequest>;
}

/** Serves `POST /v1/chat/completions`, as scripted or else with the fixture's own response. */
export async function answerChat(response: ServerResponse, body: unknown, surroundings: Surroundings): Promise<void> {
  const { scripts, manner, swap } = surroundings;
  const parsed = ChatRequest.safeParse(body);
  if (!parsed.success) throw GatewayError.of(400, z.prettifyError(parsed.error));
  const request = parsed.data;
  const model = FIXTURE_MODELS.find(({ id }) => id === request.model);
  checkRequest(manner, { request, model, promptTokens: () => promptTokensOf(request) });
  const script = scripts.take({
    target: 'chat',
    model: request.model,
    prompt: () => promptOf(request),
  });
  if (script === undefined && model === undefined) {
    throw refused(manner.unknownModel, { model: request.model });
  }
  if (script && !(await waited(response, script.latencyMs, script.released))) return;
  const behaviour = script?.behaviour ?? failureIn(promptOf(request)) ?? { kind: 'normal' };
  switch (behaviour.kind) {
    case 'error':
      return sendScriptedError(response, behaviour, manner);
    case 'loading':
      return sendLoading(response);
    case 'reset':
      return cutBeforeAnswer(response);
    case 'raw':
      return sendRaw(response, behaviour);
    default: {
      const form = { ...manner.form, ...script?.form };
      const { messages, tools } = behaviour.kind === 'swap' ? await swap(request) : request;
      const answer = answerTo({ ...request, messages, tools }, { behaviour, form, manner, model });
      return deliver(response, answer, behaviour, form);
    }
  }
}

function deliver(response: ServerResponse, answer: Answer, behaviour: Behaviour, form: Form): void | Promise<void> {
  switch (behaviour.kind) {
    case 'hang':
      return hang(response, answer, behaviour);
    case 'broken-stream':
      return cutMidway(response, answer, behaviour.afterChunks);
    case 'malformed-json':
      return sendMalformed(response, answer);
    case 'endless':
      return sendEndlessly(response, answer, behaviour.chunkDelayMs);
    default:
      if (form.stop !== undefined) return stopAt(response, answer, form.stop, form.abrupt ?? false);
      return sendWhole(response, answer, form.pauseMs ?? 0);
  }
}

interface Case {
  readonly behaviour: Behaviour;
  readonly form: Form;
  readonly manner: Manner;
  readonly model: FixtureModel | undefined;
}

function answerTo(asked: ChatRequest, { behaviour, form, manner, model }: Case): Answer {
  const { silentWindow, limits } = manner;
  const request = silentWindow === undefined ? asked : cutPrompt(asked, silentWindow);
  const limit = form.maxTokens ?? limits.map((field) => request[field]).find((most) => most != null);
  const given = replyTo(request, behaviour, { manner, model });
  const reply = limit == null ? given : cutReply(given, limit);
  const counted = usageAs(manner.usage, usageOf(request, reply, model));
  const usage = behaviour.kind === 'usage' ? (behaviour.usage ?? undefined) : counted;
  const whole = completion(request.model, formed(reply, form), usageIn(form, usage));
  const { error } = form;
  const body = (): string => (error === undefined ? completionBody(whole, form) : JSON.stringify({ error }));
  if (request.stream !== true) return { body };
  const includeUsage = manner.statesUsage === true || request.stream_options?.include_usage === true;
  return {
    body,
    events: () => {
      const events = completionEvents(whole, form, includeUsage);
      if (error === undefined) return events;
      const half = events.slice(0, Math.ceil(events.length / 2));
      return [...half, errorEvent(whole, error, manner.errorInChunk ?? false)];
    },
  };
}

function replyTo(request: ChatRequest, behaviour: Behaviour, { manner, model }: Pick<Case, 'manner' | 'model'>): Reply {
  const reasons = model?.reasons ?? false;
  switch (behaviour.kind) {
    case 'text': {
      const { text, reasoning, finishReason } = behaviour;
      return { text, calls: [], finishReason, ...(reasoning === undefined ? {} : { reasoning }) };
    }
    case 'tool-calls': {
      const { calls, text, reasoning, finishReason } = behaviour;
      const reply = {
        ...callsReply(
          calls.map(({ id, name, arguments: args }, index) => {
            const written = typeof args === 'string' ? args : JSON.stringify(args);
            const call = toolCall(request, index, name, written);
            return id === undefined ? inManner(call, manner) : { ...call, id };
          }),
          text,
        ),
        finishReason,
      };
      return reasoning === undefined ? reply : { ...reply, reasoning };
    }
    case 'repeat':
      return textReply(lastToolText(request));
    default: {
      if (manner.schemaOverTools === true) {
        const held = schemaReply(request);
        if (held !== undefined) return held;
      }
      const make = behaviour.kind === 'obey' ? obedientReply : naturalReply;
      const reply = demoReply(request) ?? make(request, reasons);
      return { ...reply, calls: reply.calls.map((call) => inManner(call, manner)) };
    }
  }
}

function inManner<Call extends { id: string }>(call: Call, { shortCallIds }: Manner): Call {
  return shortCallIds === true ? { ...call, id: call.id.slice(-9) } : call;
}

function usageAs(figures: Manner['usage'], usage: Usage): unknown {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  if (figures === 'sums') return { prompt_tokens, completion_tokens, total_tokens };
  return figures === 'cost' ? usage : { ...usage, cost: undefined };
}

async function sendWhole(response: ServerResponse, { events, body }: Answer, pauseMs: number): Promise<void> {
  if (events === undefined) return send(response, 200, 'application/json', body());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (pauseMs === 0) {
    response.end(events().join(''));
    return;
  }
  for (const event of events()) {
    response.write(event);
    if (!(await waited(response, pauseMs))) return;
  }
  response.end();
}
