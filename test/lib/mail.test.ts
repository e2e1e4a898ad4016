import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openMailer } from '#lib/mail.ts';

/** Replies of a mail server by the first word of a command; an empty reply breaks the connection. */
type Replies = Readonly<Record<string, string>>;

const HONEST: Replies = {
  greeting: '220 mail.example.com ESMTP',
  EHLO: '250-mail.example.com\r\n250 SIZE 1000000',
  HELO: '250 mail.example.com',
  MAIL: '250 OK',
  RCPT: '250 OK',
  DATA: '354 Go on',
  '.': '250 Queued',
  RSET: '250 OK',
  QUIT: '221 Bye',
};

/** Sends a mail to a server with these replies, and returns the fault and the commands. */
async function sendTo(replies: Replies, { requireTls = false, from = 'Test <test@example.com>', user = '' } = {}) {
  const commands: string[] = [];
  const server = createServer((socket) => converse(socket, { ...HONEST, ...replies }, commands));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  onTestFinished(async () => void server.close());
  const mailer = openMailer({ url: `smtp://${user}127.0.0.1:${port}`, from, requireTls });
  onTestFinished(() => mailer.close());
  const fault = await mailer.attempt({ to: 'ada@example.com', subject: 'Hi', text: 'Hello.', id: 'msg_1' });
  return { fault, commands };
}

function converse(socket: Socket, replies: Replies, commands: string[]): void {
  const lines = createInterface({ input: socket });
  // A client that hangs up is no fault; the lines repeat the error of their socket.
  for (const each of [socket, lines]) each.on('error', () => undefined);
  const reply = (name: string) => {
    const text = replies[name] ?? '500 Unknown command';
    if (text === '') socket.destroy();
    else socket.write(`${text}\r\n`);
  };
  let isData = false;
  reply('greeting');
  lines.on('line', (line) => {
    commands.push(line);
    if (isData && line !== '.') return;
    const name = isData ? '.' : (line.split(' ')[0] ?? '');
    isData = name === 'DATA' && replies['DATA']?.startsWith('354') === true;
    reply(name);
  });
}

const TLS = '250-mail.example.com\r\n250 STARTTLS';

test.for<[string, Replies, string | undefined, RegExp?]>([
  ['accepts everything', {}, undefined],
  ['knows no EHLO', { EHLO: '502 Not implemented' }, undefined],
  ['greets with 421', { greeting: '421 Too many connections' }, 'away'],
  ['greets with 554', { greeting: '554 No service for you' }, 'away'],
  ['hangs up at once', { greeting: '' }, 'away'],
  ['refuses the sender', { MAIL: '550 5.1.8 Sender not verified' }, 'away', /MAIL_FROM .*\(550\)/],
  [
    'refuses the sender as one of another',
    { MAIL: '553 5.7.1 Sender not owned by user' },
    'away',
    /MAIL_FROM .*\(553\)/,
  ],
  ['refuses the sender for now', { MAIL: '451 4.3.0 Try again' }, 'deferred'],
  ['refuses the size', { MAIL: '552 5.3.4 Message too large' }, 'refused'],
  ['wants a sign-in first', { MAIL: '530 5.7.0 Authentication required' }, 'away', /credentials/],
  ['wants a sign-in first, and says 503', { MAIL: '503 5.5.1 Authenticate first' }, 'away'],
  ['closes at the recipient', { RCPT: '421 4.3.2 Closing' }, 'away'],
  ['hangs up at the recipient', { RCPT: '' }, 'away'],
  ['refuses the recipient', { RCPT: '550 5.1.1 No such mailbox' }, 'refused'],
  ['refuses the recipient for now', { RCPT: '450 4.2.1 Mailbox busy' }, 'deferred'],
  ['has no room', { RCPT: '452 4.2.2 Mailbox full' }, 'deferred'],
  ['refuses the data', { DATA: '554 No valid recipients' }, 'refused'],
  ['refuses the text', { '.': '554 5.7.1 Spam' }, 'refused'],
  ['refuses the text for now', { '.': '451 4.7.1 Greylisted' }, 'deferred'],
  ['hangs up behind the text', { '.': '' }, 'away'],
  ['announces STARTTLS and refuses it', { EHLO: TLS, STARTTLS: '454 TLS not available' }, 'away', /certificate/],
  ['announces STARTTLS and speaks none', { EHLO: TLS, STARTTLS: '220 Go\r\n250 what' }, 'away', /certificate.*SSL/],
  ['announces STARTTLS and hangs up', { EHLO: TLS, STARTTLS: '' }, 'away', /reached/],
])('a server that %s', async ([, replies, kind, message]) => {
  const { fault } = await sendTo(replies);
  expect(fault?.kind).toBe(kind);
  if (message !== undefined) expect(fault?.message).toMatch(message);
});

test('a server without STARTTLS is not sent a mail where encryption is required', async () => {
  const { fault, commands } = await sendTo({}, { requireTls: true });
  expect(fault).toMatchObject({ kind: 'away', message: expect.stringContaining('SMTP_TLS_REQUIRED') });
  expect(commands.filter((line) => line.startsWith('MAIL'))).toEqual([]);
});

test('a sender at an international domain is written in ASCII everywhere', async () => {
  const { fault, commands } = await sendTo({}, { from: 'Bücher <post@bücher.example>' });
  expect(fault).toBeUndefined();
  expect(commands.join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
  expect(commands.find((line) => line.startsWith('MAIL'))).toContain('<post@xn--bcher-kva.example>');
  expect(commands.find((line) => line.startsWith('Message-ID'))).toBe('Message-ID: <msg_1@xn--bcher-kva.example>');
});
