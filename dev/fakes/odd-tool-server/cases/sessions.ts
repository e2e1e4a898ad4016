import { answer, READING, WRITING, type OddCase, type OddReply, type OddRequest } from '../odd-case.ts';

function error(code: number, message: string, status = 200, id?: null) {
  return (request: OddRequest): OddReply => ({
    status,
    body: { jsonrpc: '2.0', id: id === undefined ? request.id : null, error: { code, message } },
  });
}

/** The answers of servers that have forgotten a session. */
const WAYS: readonly (readonly [string, (request: OddRequest) => OddReply])[] = [
  ['404', () => ({ status: 404 })],
  ['400', () => ({ status: 400 })],
  ['410', () => ({ status: 410 })],
  ['401 to requests without credentials', () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } })],
  ['404 and -32001', error(-32001, 'Session not found', 404)],
  ['404 and an error that names no request', error(-32001, 'Session not found', 404, null)],
  ['400 and an error that names no request', error(-32000, 'Bad Request: No valid session ID provided', 400, null)],
  ['401 and words', error(-32000, 'Unauthorized: session has expired', 401)],
  ['500 and words', error(-32603, 'Unknown session: 5f1c', 500)],
  ['200 and -32001', error(-32001, 'Session not found')],
  ['200 and -32001 without words on it', error(-32001, 'Not Found')],
  ['200 and -32600', error(-32600, 'Session terminated')],
  ['200 and -32600 without words on it', error(-32600, 'Invalid Request')],
  ['200 and words', error(-32000, 'Server not initialized')],
  [
    '400 and words in its data',
    ({ id }) => ({
      status: 400,
      body: {
        jsonrpc: '2.0',
        id,
        error: { code: -32602, message: 'Bad Request', data: { reason: 'Session expired' } },
      },
    }),
  ],
  [
    'an event',
    (request) => ({
      type: 'text/event-stream',
      text: `data: ${JSON.stringify(error(-32000, 'The session is no longer valid.')(request).body)}\n\n`,
    }),
  ],
];

/** Makes the case of a server that carries out the second call, and then answers that the session is unknown. */
function lostAfterActing(tool: string, way: string, say: (request: OddRequest) => OddReply): OddCase {
  const isReading = tool === 'read_page';
  return {
    name: `a session lost by ${way}, after ${tool} was carried out`,
    sessions: true,
    calls: [tool, tool],
    reply(request) {
      if (request.method !== 'tools/call' || request.nth !== 2) return undefined;
      request.act();
      return say(request);
    },
    must: isReading
      ? { acts: 3, told: 'is done' }
      : { steps: ['succeeded', 'outcome_unknown'], acts: 2, told: 'Whether it was carried out is unknown' },
  };
}

export const SESSION_CASES: readonly OddCase[] = [
  ...WAYS.flatMap(([way, say]) => ['read_page', 'place_order'].map((tool) => lostAfterActing(tool, way, say))),
  {
    name: 'a session that is gone before the next call',
    sessions: true,
    calls: ['place_order', 'place_order'],
    reply(request) {
      if (request.method === 'tools/call' && request.nth === 1) request.forget();
      return undefined;
    },
    must: {},
  },
  {
    name: 'a session that is gone before the list of a run',
    sessions: true,
    reply(request) {
      if (request.method !== 'tools/list' || request.nth !== 2) return undefined;
      request.forget();
      return { status: 410 };
    },
    must: {},
  },
  {
    name: 'a session that is gone on the second page of a list',
    sessions: true,
    reply(request) {
      if (request.method !== 'tools/list') return undefined;
      if (request.nth === 2) request.forget();
      if (request.nth === 2) return { status: 404 };
      return request.cursor === undefined
        ? answer(request, { tools: [READING], nextCursor: '2' })
        : answer(request, { tools: [WRITING] });
    },
    must: {},
  },
  {
    name: 'a session that the server never knows',
    sessions: true,
    calls: ['read_page'],
    reply(request) {
      if (request.method !== 'tools/call') return undefined;
      request.act();
      return { status: 404 };
    },
    must: { steps: ['failed'], acts: 2, told: 'no longer knows the session' },
  },
];
