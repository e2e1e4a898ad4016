import {
  body,
  chunk,
  completion,
  COUNTED,
  DONE,
  event,
  REPORT,
  says,
  stream,
  succeeds,
  USAGE,
  type OddAnswer,
  type OddCase,
} from './case.ts';

function reads(name: string, ...answers: OddAnswer[]): OddCase {
  return { name, answers, expected: succeeds() };
}

const WHOLE = [says(REPORT), chunk({}, 'stop'), USAGE];

/** Complete answers in unusual forms. The first attempt reads each of them. */
export const FORMS: readonly OddCase[] = [
  reads('the end has a space behind it', stream(...WHOLE, 'data: [DONE] \n\n')),
  reads('the end is a JSON text', stream(...WHOLE, 'data: "[DONE]"\n\n')),
  reads('the end is empty', stream(...WHOLE, 'data:\n\n')),
  reads('the end is in small letters', stream(...WHOLE, 'data:[done]\n\n')),
  reads('the end is another word', stream(...WHOLE, 'data: END\n\n')),
  reads('the end is cut', stream(...WHOLE, 'data: [DON')),
  reads('the end is missing', stream(...WHOLE)),
  reads('the usage is cut after the finish reason', stream(says(REPORT, 'stop'), 'data: {"choices":[],"usage":{"pro')),
  reads(
    'pings of another name come in between',
    stream('event: ping\ndata: ping\n\n', says(REPORT), 'event: heartbeat\ndata: {}\n\n', chunk({}, 'stop'), DONE),
  ),
  reads(
    'pings without a name come in between',
    stream(
      'data: ping\n\n',
      says(REPORT),
      'data: {"type":"keep-alive","message":"still there"}\n\n',
      chunk({}, 'stop'),
      DONE,
    ),
  ),
  reads(
    'choices are empty or null at first',
    stream(
      event({ id: 'c1', choices: [], prompt_filter_results: [] }),
      event({ id: 'c1', choices: null }),
      ...WHOLE,
      DONE,
    ),
  ),
  reads('events follow the end', stream(...WHOLE, DONE, event({ error: { message: 'Too late.' } }))),
  reads('a byte order mark comes first', stream('\uFEFF', ...WHOLE, DONE)),
  reads('lines end with carriage returns alone', stream([...WHOLE, DONE].join('').replaceAll('\n', '\r'))),
  reads('the stream comes byte by byte', { parts: [...WHOLE, DONE], pieceBytes: 1 }),
  reads(
    'an event has two lines of data',
    stream(`data: {"choices":\ndata: [{"delta":{"content":${JSON.stringify(REPORT)}}}]}\n\n`, chunk({}, 'stop'), DONE),
  ),
  reads('a stream comes as JSON', { contentType: 'application/json', parts: [...WHOLE, DONE] }),
  reads('a stream comes as plain text after a comment', {
    contentType: 'text/plain',
    parts: [': hello\n\n', ...WHOLE, DONE],
    pieceBytes: 3,
  }),
  reads('a stream as JSON leaves its connection open', {
    contentType: 'application/json',
    parts: [...WHOLE, DONE],
    ending: 'stay',
  }),
  reads('a body comes under the content type of a stream', {
    parts: [JSON.stringify({ choices: [{ message: { content: REPORT }, finish_reason: 'stop' }], ...COUNTED })],
  }),
  reads(
    'a body has a byte order mark',
    body(`\uFEFF${JSON.stringify({ choices: [{ message: { content: REPORT }, finish_reason: 'stop' }] })}`),
  ),
  reads('a body has its text in parts', completion({ content: [{ type: 'text', text: REPORT }] })),
];
