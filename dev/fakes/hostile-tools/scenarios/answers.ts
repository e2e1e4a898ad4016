import { drained, eventStream, json, redirect, result, type Behaviour } from './exchange.ts';
import { except } from './honest.ts';

/** Bad responses to `tools/call`. */
export const BAD_ANSWERS = {
  /** Sends 100 MB, announced as JSON. */
  huge: except('tools/call', async ({ id, response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`);
    const chunk = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 100 && !response.destroyed; sent += 1) {
      if (!response.write(chunk)) await drained(response);
    }
    response.end('"}]}}');
  }),
  /** Sends 100 MB as an event stream. */
  'huge-stream': except('tools/call', async ({ response }) => {
    eventStream(response);
    response.write('data: ');
    const chunk = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 100 && !response.destroyed; sent += 1) {
      if (!response.write(chunk)) await drained(response);
    }
    response.end('\n\n');
  }),
  /** Keeps a stream alive and never sends the response. */
  'never-ending': except('tools/call', ({ response }) => {
    eventStream(response);
    const timer = setInterval(() => response.write(': still here\n\n'), 50);
    response.once('close', () => clearInterval(timer));
  }),
  /** Ends a stream before the response. */
  cut: except('tools/call', ({ response }) => {
    eventStream(response);
    response.end(': bye\n\n');
  }),
  /** Closes the connection in the middle of the response. */
  reset: except('tools/call', ({ response }) => {
    eventStream(response);
    response.write('data: {"jsonrpc"');
    setTimeout(() => response.destroy(), 20);
  }),
  /** Responds under the id of another request. */
  'bad-ids': except('tools/call', ({ response }) =>
    json(response, 200, { jsonrpc: '2.0', id: 999_999, result: { content: [] } }),
  ),
  /** Accepts the request and never responds. */
  'accepted-only': except('tools/call', ({ response }) => void response.writeHead(202).end()),
  /** Responds with something that is not a result. */
  malformed: except('tools/call', (exchange) => result(exchange, { content: 'nonsense' })),
  /** Refuses each call with a JSON-RPC error in its own words. */
  refusing: except('tools/call', ({ id, response, control }) => {
    const [call] = control.calls.slice(-1);
    const said = call === undefined ? 'no' : control.answer(call);
    json(response, 200, {
      jsonrpc: '2.0',
      id,
      error: { code: -32000, message: typeof said === 'string' ? said : 'no' },
    });
  }),
  /** Redirects every call to a metadata address. */
  'redirect-call': except('tools/call', ({ response }) => redirect(response)),
} satisfies Record<string, Behaviour>;
