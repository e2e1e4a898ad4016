import { answer, methodCase, resultCase, text, type OddCase, type OddOutcome, type OddRequest } from '../odd-case.ts';

const DONE = text('done');
const TOLD: OddOutcome = { told: 'done' };
const FAILED: OddOutcome = { steps: ['failed', 'failed'] };

/** Handshakes that do not quite follow the protocol. */
const HANDSHAKES = [
  ['capabilities of null', { capabilities: null }],
  ['tools of null among the capabilities', { capabilities: { tools: null, logging: null } }],
  ['capabilities of odd kinds', { capabilities: { tools: true, prompts: [], resources: 'yes' } }],
  ['a server of null', { serverInfo: null }],
  ['a title of null and a version that is a number', { serverInfo: { name: 'a', title: null, version: 2 } }],
  ['a name of null', { serverInfo: { name: null } }],
  ['instructions and _meta of null', { instructions: null, _meta: null }],
  ['no revision of the protocol', { protocolVersion: null }],
] as const;

/** JSON-RPC envelopes that do not quite follow the protocol, around the result of a call that was carried out. */
const ENVELOPES: readonly (readonly [string, (request: OddRequest) => ReturnType<OddCase['reply']>])[] = [
  ['an error of null beside the result', ({ id }) => ({ body: { jsonrpc: '2.0', id, result: DONE, error: null } })],
  ['no version of JSON-RPC', ({ id }) => ({ body: { id, result: DONE } })],
  ['the id as a text', ({ id }) => ({ body: { jsonrpc: '2.0', id: String(id), result: DONE } })],
  ['a batch of one', ({ id }) => ({ body: [{ jsonrpc: '2.0', id, result: DONE }] })],
  ['a byte order mark', ({ id }) => ({ text: `\uFEFF${JSON.stringify({ jsonrpc: '2.0', id, result: DONE })}` })],
  ['JSON as plain text', (request) => ({ ...answer(request, DONE), type: 'text/plain' })],
  ['events as JSON', (request) => ({ text: events(request), type: 'application/json; charset=utf-8' })],
  ['events as plain text', (request) => ({ text: events(request), type: 'text/plain' })],
  [
    'events with CR and LF',
    (request) => ({ text: events(request).replaceAll('\n', '\r\n'), type: 'text/event-stream' }),
  ],
];

/** A server that closes the stream of a call before the result. The client then requests the result. */
const RESUMED: OddCase = {
  name: 'a stream that is closed and gone on with',
  must: TOLD,
  reply(request) {
    if (request.method === 'GET') return { text: events(request), type: 'text/event-stream' };
    if (request.method !== 'tools/call') return undefined;
    request.act();
    return { text: 'retry: 20\n\nid: 1\ndata:\n\n', type: 'text/event-stream' };
  },
};

function events(request: OddRequest): string {
  return `: hello\nid: 1\nevent: message\ndata: ${JSON.stringify(answer(request, DONE).body)}\n\n`;
}

const MODERN = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };

/** Servers of 2026-07-28 that answer `server/discover` in this form, and everything else as older servers do. */
const DISCOVERIES = [
  ['nothing of its cache', MODERN],
  ['no type of result', { ...MODERN, resultType: null, ttlMs: null, cacheScope: null }],
  ['capabilities of null', { ...MODERN, capabilities: null, _meta: null, instructions: null }],
  ['null among its revisions', { ...MODERN, supportedVersions: [null, '2026-07-28'] }],
] as const;

const RESULTS: readonly OddCase[] = [
  resultCase('a result with isError of null', { ...DONE, isError: null }, TOLD),
  resultCase('a result with isError as a text', { ...DONE, isError: 'true' }, { ...FAILED, ...TOLD }),
  resultCase('a result that says false as a text', { ...DONE, isError: 'false' }, TOLD),
  resultCase(
    'a result with annotations of null',
    { content: [{ type: 'text', text: 'done', annotations: null }] },
    TOLD,
  ),
  resultCase('a result with structured content of null', { ...DONE, structuredContent: null }, TOLD),
  resultCase('a result with content of null', { content: null, structuredContent: { answer: 'done' } }, TOLD),
  resultCase('a result without content', { structuredContent: { answer: 'done' } }, TOLD),
  resultCase('a result of one part that is no list', { content: { type: 'text', text: 'done' } }, TOLD),
  resultCase('a result with a text that is a number', { content: [{ type: 'text', text: 42 }] }, { told: '42' }),
  resultCase('a result with a mere text as a part', { content: ['done'] }, TOLD),
  resultCase(
    'a result with a part of an unknown type',
    { content: [{ type: 'hologram', data: 1 }, ...DONE.content] },
    { told: 'cannot be read: content[0], type hologram]\ndone' },
  ),
  resultCase('a result with null as a part', { content: [null, ...DONE.content] }, { told: 'content[0], null]\ndone' }),
  resultCase('a result with an image of nothing', { content: [{ type: 'image' }, ...DONE.content] }, TOLD),
  resultCase(
    'a result with a resource of null',
    { content: [{ type: 'resource', resource: null }, ...DONE.content] },
    TOLD,
  ),
  resultCase(
    'a result with a link without a name',
    { content: [{ type: 'resource_link', uri: 'a:b' }] },
    { told: 'a:b' },
  ),
  resultCase('a result that is null', null, {
    steps: ['failed', 'outcome_unknown'],
    told: 'does not follow MCP (the result is null',
  }),
  resultCase(
    'a result with content that is a text',
    { content: 'done' },
    {
      steps: ['failed', 'outcome_unknown'],
      told: 'result.content is a text',
    },
  ),
];

const SAID = 'order was placed, receipt failed';

function acted(body: (request: OddRequest) => unknown, status: number): OddCase['reply'] {
  return (request) => {
    if (request.method !== 'tools/call') return undefined;
    request.act();
    return { status, body: body(request) };
  };
}

/**
 * Makes the cases of an error that answers a call: the model gets the server's words, and the call is never sent again.
 */
function errors(name: string, status: number, error: unknown): OddCase[] {
  const reply = acted(({ id }) => ({ jsonrpc: '2.0', id, error, result: null }), status);
  const must: OddOutcome = { ...FAILED, told: SAID };
  return [
    { name: `${name}, without a session`, reply, must },
    { name: `${name}, on a session`, sessions: true, reply, must },
  ];
}

/**
 * Makes the case of an error that does not name the call, so it proves nothing about the call's outcome. The model gets
 * the server's words too.
 */
function unnamed(name: string, status: number, body: object): OddCase {
  const must: OddOutcome = { steps: ['failed', 'outcome_unknown'], told: SAID };
  return { name, reply: acted(() => body, status), must };
}

const ERRORS: readonly OddCase[] = [
  ...[200, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503].flatMap((status) =>
    errors(`an error of JSON-RPC under ${status}`, status, { code: -32602, message: SAID }),
  ),
  ...[-32000, -32001, -32600, -32601, -32603, -32700].flatMap((code) =>
    errors(`an error of code ${code}`, 400, { code, message: SAID }),
  ),
  unnamed('an error with an id of null', 400, { jsonrpc: '2.0', id: null, error: { code: -32602, message: SAID } }),
  unnamed('an error without an id', 200, { jsonrpc: '2.0', error: { code: -32602, message: SAID } }),
  unnamed('an error of a gateway', 504, { error: { code: 504, message: SAID } }),
  unnamed('an error of a gateway that is no error of HTTP', 409, { error: { code: 'conflict', message: SAID } }),
  ...errors('an error with its words in data', 200, { code: -32603, message: 'Internal error', data: { said: SAID } }),
  ...errors('an error with its code as a text', 200, { code: '-32602', message: SAID }),
  ...errors('an error that is a mere text', 200, SAID),
  ...errors('an error without a code', 500, { message: SAID }),
];

export const ANSWER_CASES: readonly OddCase[] = [
  ...HANDSHAKES.map(([name, changes]) =>
    methodCase(`a handshake with ${name}`, 'initialize', (request) =>
      answer(request, {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'odd', version: '1' },
        ...changes,
      }),
    ),
  ),
  ...DISCOVERIES.map(([name, result]) =>
    methodCase(`a server of 2026 that says ${name}`, 'server/discover', (request) => answer(request, result)),
  ),
  ...ENVELOPES.map(([name, reply]) =>
    methodCase(
      `a response with ${name}`,
      'tools/call',
      (request) => {
        request.act();
        return reply(request);
      },
      TOLD,
    ),
  ),
  { name: 'a server on another continent', delayMs: 700, must: {}, reply: () => undefined },
  RESUMED,
  ...RESULTS,
  ...ERRORS,
];
