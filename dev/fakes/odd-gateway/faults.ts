import {
  body,
  chunk,
  completion,
  DONE,
  event,
  failsAfterAll,
  fails,
  HALF,
  says,
  stream,
  USAGE,
  type OddAnswer,
  type OddCase,
} from './case.ts';

const WITH_ERROR = 'The model provider answered with an error. It said: Upstream is gone.';

/** Makes the case of an error between half a text and a proper end. */
function inStream(name: string, fault: string, expected = failsAfterAll('model_error', WITH_ERROR)): OddCase {
  return { name, answers: [stream(says(HALF), fault, DONE)], expected };
}

function inBody(name: string, answer: OddAnswer, expected = failsAfterAll('model_error', WITH_ERROR)): OddCase {
  return { name, answers: [answer], expected };
}

const MESSAGE = 'Upstream is gone.';
const ANSWERED_502 = failsAfterAll('model_error', `The model provider answered 502. It said: ${MESSAGE}`);
const LIMITED = failsAfterAll('model_rate_limited', 'The model provider answered 429. It said: Slow down.');

/** Errors with status 200, in every place and form in which servers send them. */
export const FAULTS: readonly OddCase[] = [
  inStream(
    'an error follows an id and empty choices',
    event({ id: 'c1', choices: [], error: { code: 502, message: MESSAGE } }),
    ANSWERED_502,
  ),
  inStream(
    'an error object says so by its object',
    event({ object: 'error', message: MESSAGE, code: 502 }),
    ANSWERED_502,
  ),
  inStream(
    'an error object says so by its type',
    event({ type: 'error', error: { type: 'api_error', message: MESSAGE } }),
  ),
  inStream('an error stands behind a space', `data: { "error": { "message": "${MESSAGE}" } }\n\n`),
  inStream('an error is a text', event({ error: MESSAGE })),
  inStream('an error is a flag beside a message', event({ error: true, message: MESSAGE })),
  inStream('an error is a list', event([{ error: { message: MESSAGE } }])),
  inStream('an error is called detail', event({ detail: MESSAGE })),
  inStream('an error is called message', event({ message: MESSAGE })),
  inStream('an error has a code and a msg', event({ code: 1302, msg: MESSAGE, success: false })),
  inStream('an error has an error_code and an error_msg', event({ error_code: 17, error_msg: MESSAGE })),
  inStream('an error stands in the choice', event({ choices: [{ index: 0, delta: {}, error: { message: MESSAGE } }] })),
  inStream(
    'an error stands in the choice beside the reason "error"',
    event({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }], error: { message: MESSAGE } }),
    failsAfterAll('model_error', WITH_ERROR, { finish: 'error' }),
  ),
  inStream(
    'an error stands beside a chunk',
    event({ choices: [{ index: 0, delta: { content: ' all' } }], error: { message: MESSAGE } }),
  ),
  inStream('an event is named error', `event: error\ndata: ${MESSAGE}\n\n`),
  inStream('a field is named error', `error: {"message":"${MESSAGE}"}\n\n`),
  inStream('an error has no field', `{"error":{"message":"${MESSAGE}"}}\n\n`),
  inStream('an event is no JSON', `data: ${MESSAGE}\n\n`),
  {
    name: 'an error comes after the finish reason',
    answers: [stream(says(HALF, 'stop'), event({ error: { message: MESSAGE } }), DONE)],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  {
    name: 'an event named error comes after the finish reason',
    answers: [stream(says(HALF, 'stop'), `event: error\ndata: ${MESSAGE}\n\n`)],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  {
    name: 'a chunk is broken, and no words of its model are told as an error',
    answers: [stream('data: {"choices":[{"delta":{"content":"HALF\n\n', DONE)],
    expected: failsAfterAll('model_error', '', { message: 'The model provider answered with an error.' }),
  },
  {
    name: 'an error comes first, and no end',
    answers: [stream(event({ error: { message: MESSAGE } }))],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  {
    name: 'an error ends the stream without an empty line',
    answers: [stream(says(HALF), `data: {"error":{"message":"${MESSAGE}"}}`)],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  {
    name: 'the connection stays open after an error',
    answers: [{ parts: [says(HALF), event({ error: { message: MESSAGE } })], ending: 'stay' }],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  {
    name: 'an error is written in pieces with the line ends of Windows',
    answers: [{ parts: [says(HALF), `data: {"error":\r\ndata: {"message":"${MESSAGE}"}}\r\n\r\n`], pieceBytes: 7 }],
    expected: failsAfterAll('model_error', WITH_ERROR),
  },
  inStream(
    'a rate limit says its number',
    event({ choices: [], error: { code: '429', message: 'Slow down.' } }),
    LIMITED,
  ),
  inStream(
    'a rate limit says its name',
    event({ error: { type: 'rate_limit_error', message: 'Slow down.' } }),
    LIMITED,
  ),
  inBody(
    'a body is an envelope with a rate limit',
    body({ choices: [], error: { code: 429, message: 'Slow down.' } }),
    LIMITED,
  ),
  inBody(
    'a body is a list with an error',
    body([{ error: { status: 'RESOURCE_EXHAUSTED', message: 'Slow down.' } }]),
    LIMITED,
  ),
  inBody('a body has a message and a type', body({ message: MESSAGE, type: 'internal' })),
  inBody('a body has a detail', body({ detail: MESSAGE })),
  inBody(
    'a body has its state in base_resp',
    body({ choices: null, base_resp: { status_code: 1008, status_msg: MESSAGE } }),
  ),
  inBody(
    'a body has an error in its choice',
    body({ choices: [{ error: { message: MESSAGE }, message: { content: HALF } }] }),
  ),
  inBody('an error comes under the content type of a stream', {
    parts: [JSON.stringify({ error: { message: MESSAGE } })],
  }),
  inBody(
    'a body is a plain text',
    body(MESSAGE, 'text/plain'),
    failsAfterAll('model_malformed', `cannot be read. It said: ${MESSAGE}`),
  ),
  inBody(
    'a body is a page',
    body(`<html><body><h1>${MESSAGE}</h1></body></html>`, 'text/html'),
    failsAfterAll('model_malformed', `cannot be read. It said: ${MESSAGE}`),
  ),
  inBody(
    'a request is refused in the body of a success',
    body({ error: { type: 'invalid_request_error', message: 'Bad value.' } }),
    fails('model_refused', 'The model provider answered 400. It said: Bad value.', { failureClass: 'routine' }),
  ),
  {
    name: 'the error of a broken completion keeps its words',
    answers: [completion({ content: HALF }, 'error', { error: { message: MESSAGE } })],
    expected: failsAfterAll('model_error', WITH_ERROR, { finish: 'error' }),
  },
  {
    name: 'a text of a proxy stands between the events',
    answers: [stream(says(HALF), 'upstream connect error or disconnect\n\n')],
    expected: failsAfterAll('model_error', 'upstream connect error or disconnect'),
  },
  {
    name: 'a chunk has an error without anything in it',
    answers: [stream(chunk({ content: 'All.' }, null, { error: null }), chunk({}, 'stop', { error: {} }), USAGE, DONE)],
    expected: { state: 'succeeded', attempts: 1, result: 'All.' },
  },
];
