import { completion, completionEvents } from '../gateway/completion.ts';
import { ChatRequest } from '../gateway/request.ts';
import { bearerOf, sse, type FixtureProtocol } from './protocol.ts';

/** Serves the streamed chat completions of OpenAI. */
export const openaiChat: FixtureProtocol = {
  completionPath: '/chat/completions',
  credentialOf: bearerOf,
  read(body) {
    const request = ChatRequest.parse(body);
    if (request.stream !== true) throw new Error('stream is expected to be true');
    return request;
  },
  events: (model, reply, usage) => completionEvents(completion(model, reply, usage), {}, true),
  errorEvent: (error) => sse({ error: { message: 'The fixture failed.', ...error } }),
  errorBody: (type, message) => ({ error: { message, type, code: type, param: null } }),
};
