import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { callsReply, naturalReply, type Reply } from '../gateway/reply.ts';
import type { ChatRequest } from '../gateway/request.ts';
import { sendJson } from '../gateway/http.ts';
import { usageOf, type Usage } from '../gateway/usage.ts';
import type { Behaviour } from './behaviour.ts';
import type { FixtureProtocol } from './protocol.ts';

/** Serves one completion by its script, else with the fixture's own response. */
export async function complete(
  response: ServerResponse,
  request: ChatRequest,
  protocol: FixtureProtocol,
  behaviour: Behaviour,
): Promise<void> {
  if (behaviour.kind === 'hang') return;
  if (behaviour.kind === 'error') {
    const body = behaviour.body ?? protocol.errorBody('fixture', 'Scripted failure.');
    sendJson(response, behaviour.status, body, behaviour.headers);
    return;
  }
  const reply = replyTo(request, behaviour);
  const events = protocol.events(request.model, reply, usageFor(request, reply, behaviour));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const half = events.slice(0, Math.max(1, Math.floor(events.length / 2)));
  switch (behaviour.kind) {
    case 'stream-error':
      response.end(half.join('') + protocol.errorEvent(behaviour.error));
      return;
    case 'broken-stream':
      response.write(half.join(''), () => response.socket?.destroy());
      return;
    case 'unfinished':
      response.end(half.join(''));
      return;
    case 'malformed':
      response.end(`${half.join('')}data: {"choices":[{"del\n\n`);
      return;
    case 'silent':
      response.write(half.join(''));
      return keepAlive(response);
    case 'endless':
      response.write(half.join(''));
      return repeat(response, half.at(-1) ?? '');
    default: {
      const pauseMs = behaviour.kind === 'slow' ? behaviour.pauseMs : 0;
      for (const event of events) {
        if (pauseMs > 0) await sleep(pauseMs);
        if (response.destroyed) return;
        response.write(event);
      }
      response.end();
    }
  }
}

function replyTo(request: ChatRequest, behaviour: Behaviour): Reply {
  if (behaviour.kind === 'text') {
    return { text: behaviour.text, calls: [], finishReason: behaviour.finishReason };
  }
  if (behaviour.kind !== 'tool-calls') return naturalReply(request, false);
  return callsReply(
    behaviour.calls.map(({ name, arguments: args }, index) => ({
      id: `call_${index}`,
      name,
      arguments: args,
    })),
  );
}

function usageFor(request: ChatRequest, reply: Reply, behaviour: Behaviour): Usage {
  const usage = usageOf(request, reply, undefined);
  if (behaviour.kind !== 'lying-usage') return usage;
  return { ...usage, prompt_tokens: behaviour.tokens, completion_tokens: behaviour.tokens };
}

async function keepAlive(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(': keep-alive\n\n');
    await sleep(50);
  }
}

/** Repeats an event with a long comment, so that the reader reaches its limit of bytes before its timeout. */
async function repeat(response: ServerResponse, event: string): Promise<void> {
  const padded = `${event}: ${'x'.repeat(64_000)}\n\n`;
  while (!response.destroyed) {
    if (response.writableLength < 1_000_000) response.write(padded.repeat(4));
    await sleep(1);
  }
}
