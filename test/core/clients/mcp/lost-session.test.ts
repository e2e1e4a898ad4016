import { expect, test } from 'vitest';
import { speaksOfLostSession, wordsOf } from '#core/clients/mcp/messages.ts';

test.for([
  [-32000, 'Session not found'],
  [-32000, 'No valid session ID provided'],
  [-32000, 'Bad Request: Mcp-Session-Id header is required; session missing'],
  [-32603, 'Unknown session: 5f1c'],
  [-32000, 'session 4a7d has expired'],
  [-32000, 'The session does not exist any more.'],
  [-32000, 'Your session was terminated'],
  [-32000, 'Invalid or expired session'],
  [-32000, 'Server not initialized'],
  [-32002, 'Received request before initialization was complete'],
  [-32001, ''],
  [-32001, 'Not Found'],
  [-32600, 'Invalid Request'],
] as const)('an error of code %d with the words "%s" speaks of a lost session', ([code, words]) => {
  expect(speaksOfLostSession({ code, words }, { hasSession: true })).toBe(true);
});

test.for([
  [-32602, 'order was placed, receipt failed'],
  [-32600, 'order was placed, receipt failed'],
  [-32001, 'The record is locked by another user'],
  [-32000, 'Not Found'],
  [-32602, 'Invalid params'],
  [-32603, 'Internal error'],
  [-32000, 'The training session was booked'],
  [-32000, 'The account is required to have a name'],
] as const)('an error of code %d with the words "%s" is an answer', ([code, words]) => {
  expect(speaksOfLostSession({ code, words }, { hasSession: true })).toBe(false);
});

test('a code alone says nothing where there was no session', () => {
  const error = { code: -32600, words: 'Invalid Request' };
  expect(speaksOfLostSession(error, { hasSession: false })).toBe(false);
});

test('the words of an error are its message and what its data adds, cut to whole characters', () => {
  expect(wordsOf({ message: 'No.', data: { reason: 'closed' } })).toBe('No.\n{"reason":"closed"}');
  expect(wordsOf({ message: 'No: closed', data: 'closed' })).toBe('No: closed');
  expect(wordsOf({ message: '\u{1F600}'.repeat(1_500) }).isWellFormed()).toBe(true);
});
