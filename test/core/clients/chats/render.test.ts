import { expect, test } from 'vitest';
import { CHAT_KINDS, chatKindOf, judgeChat, renderChat, type ChatKind } from '#core/clients/chats/index.ts';
import { discord, googleChat, slack, teams } from '#dev/fakes/chats/manners.ts';
import { ROOMS } from '#dev/fakes/chats/server.ts';

const MANNERS = { slack, teams, discord, google_chat: googleChat };
const URL_OF_RUN = 'https://ras.example.com/p/prj_1/runs/run_1';
function message(text: string) {
  return {
    title: 'Weekly <audit> & more',
    facts: 'Succeeded · 24 Nov 2026, 08:00',
    text,
    link: { label: 'Open the result', url: URL_OF_RUN },
  };
}
const TEXTS = {
  nothing: '',
  'a sentence': 'All pages answer.',
  'forty thousand characters in lines': 'A line with **bold** and [a page](https://example.com/a). & <b>\n'.repeat(700),
  'forty thousand characters in one line': '&'.repeat(40_000),
  'forty thousand characters of Japanese': '日本語の文章です。'.repeat(4_500),
  'forty thousand quotation marks': '"'.repeat(40_000),
  'forty thousand emoji': '🦊'.repeat(20_000),
  'thirty thousand lines': '7\n'.repeat(30_000),
  'thirty thousand controls': '\u0001'.repeat(30_000),
  'an address without an end': `[a](https://example.com/${'a'.repeat(40_000)}`,
  'brackets and dashes without an end': '[(|-'.repeat(10_000),
  'a block of code without an end': `\`\`\`\n${'x = 1;\n'.repeat(6_000)}`,
  'calls of everyone': '<!channel> <users/all> @everyone <@U123>',
};

test.for(CHAT_KINDS.flatMap((kind) => Object.entries(TEXTS).map(([name, text]) => [kind, name, text] as const)))(
  '%s takes %s, with the link to the result',
  ([kind, , text]) => {
    const body = renderChat(kind, message(text));
    expect(MANNERS[kind].takes(JSON.parse(body), Buffer.byteLength(body))).toBe(true);
    expect(body).toContain(URL_OF_RUN);
    if (text.length >= 40_000 && !text.includes('\u0001')) expect(body).toContain('…');
  },
);

test('each chat gets title, facts, text and link, and nothing else to see', () => {
  const of = (kind: ChatKind) => JSON.parse(renderChat(kind, { ...message('**Two** prices rose.'), title: 'Prices' }));
  const facts = 'Succeeded · 24 Nov 2026, 08:00';
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
  expect(of('slack')).toEqual({
    text: `Prices: ${facts}`,
    blocks: [
      section(`*Prices*\n${facts}`),
      section('*Two* prices rose.'),
      { type: 'context', elements: [section(`<${URL_OF_RUN}|Open the result>`).text] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  });
  const { body } = of('teams').attachments[0].content;
  expect(body.map(({ text }: { text: string }) => text)).toEqual([
    'Prices',
    facts,
    '**Two** prices rose.',
    `[Open the result](${URL_OF_RUN})`,
  ]);
  expect(of('discord').embeds).toEqual([
    {
      title: 'Prices',
      url: URL_OF_RUN,
      description: `**Two** prices rose.\n\n[Open the result](${URL_OF_RUN})`,
      footer: { text: facts },
    },
  ]);
  expect(of('google_chat')).toEqual({
    text: `*Prices*\n${facts}\n\n*Two* prices rose.\n\n<${URL_OF_RUN}|Open the result>`,
  });
});

test('the link stands behind a block of code that has no end, and not in it', () => {
  for (const kind of CHAT_KINDS) {
    for (const text of ['Look: ```\nx = 1', TEXTS['a block of code without an end']]) {
      const [before = ''] = renderChat(kind, message(text)).split('Open the result');
      expect(before.split('```').length % 2, kind).toBe(1);
    }
  }
});

test('a long line behind a short one is cut where the chat ends, and not left out', () => {
  for (const kind of CHAT_KINDS) {
    const body = renderChat(kind, message(`Two prices rose.\n\n${'All of them & more. '.repeat(2_000)}`));
    expect(body.split('All of them').length, kind).toBeGreaterThan(80);
    const cutInLink = renderChat(
      kind,
      message(`${'ab '.repeat(900)}[${'label '.repeat(40)}](https://example.com/a)`.repeat(40)),
    );
    expect(cutInLink, kind).toMatch(/(?:ab ?|\)|>)…/);
  }
});

test('a table is written as cells, and a picture as a link', () => {
  const text = '| plan | price |\n|:---|---:|\n| **Pro** \\| Team | 12 USD |\n![chart](https://example.com/c_(1).png)';
  expect(renderChat('slack', message(text))).toContain(
    'plan · price\\n*Pro* \\\\| Team · 12 USD\\n<https://example.com/c_(1).png|chart>',
  );
  expect(renderChat('teams', message(text))).toContain('plan · price\\n\\n**Pro**');
});

test('addresses are links in each chat, and no label hides another address', () => {
  const text = 'See https://example.com/a?b=1&c=2. [bank.example](https://evil.example/x) [docs](https://a.example/d)';
  const shown = (kind: ChatKind) => renderChat(kind, message(text));
  expect(shown('slack')).toContain(
    'See <https://example.com/a?b=1&amp;c=2>. <https://evil.example/x> <https://a.example/d|docs>',
  );
  expect(shown('google_chat')).toContain(
    'https://example.com/a?b=1&c=2. https://evil.example/x <https://a.example/d|docs>',
  );
  expect(shown('discord')).toContain('https://evil.example/x [docs](https://a.example/d)');
  for (const kind of CHAT_KINDS) expect(shown(kind)).not.toContain('bank.example');
});

test('a text calls no one, in no chat', () => {
  const text = TEXTS['calls of everyone'];
  // Slack looks for names like @everyone in all text that is not verbatim.
  expect(renderChat('slack', message(text)).match(/"mrkdwn","text":"(?:[^"\\]|\\.)*"(?!,"verbatim":true)/g)).toBeNull();
  expect(renderChat('slack', message(text))).not.toMatch(/<!channel>|<@U123>/);
  expect(renderChat('google_chat', message(text))).not.toContain('<users/all>');
  expect(JSON.parse(renderChat('discord', message(text)))).toMatchObject({ allowed_mentions: { parse: [] } });
});

test('links, bold text and headings are written as each chat reads them', () => {
  const text = '## Findings\n**Two** pages fail: [pricing](https://example.com/pricing) & more';
  expect(renderChat('slack', message(text))).toContain(
    '*Findings*\\n*Two* pages fail: <https://example.com/pricing|pricing> &amp; more',
  );
  expect(renderChat('discord', message(text))).toContain(
    '**Findings**\\n**Two** pages fail: [pricing](https://example.com/pricing)',
  );
  expect(renderChat('google_chat', message(text))).toContain(
    '*Findings*\\n*Two* pages fail: <https://example.com/pricing|pricing>',
  );
  expect(renderChat('teams', message(text))).toContain('[pricing](https://example.com/pricing)');
});

test('a chat is recognized by the whole form of its address', () => {
  for (const kind of CHAT_KINDS) expect(chatKindOf(ROOMS[kind])).toBe(kind);
  const others = [
    'https://example.com/services/T0/B0/x',
    'https://hooks.slack.com.example.com/services/T0/B0/x',
    'https://hooks.slack.com/triggers/T0/1/x',
    'http://hooks.slack.com/services/T0/B0/x',
    'https://hooks.slack.com:8443/services/T0/B0/x',
    'https://user@hooks.slack.com/services/T0/B0/x',
    'https://discord.com/channels/1/2',
    'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=aKey',
    'https://10.0.0.1/services/T0/B0/x',
    'hooks.slack.com/services/T0/B0/x',
    '',
  ];
  for (const address of others) expect(chatKindOf(address), address).toBeUndefined();
});

test.for<[ChatKind, number, string, string]>([
  ['slack', 200, 'ok', 'delivered'],
  ['slack', 200, 'invalid_payload', 'refused'],
  ['slack', 200, 'no_service', 'gone'],
  ['slack', 200, 'rate_limited', 'retry'],
  ['slack', 200, '<html>a proxy</html>', 'retry'],
  ['slack', 403, 'action_prohibited', 'gone'],
  ['slack', 404, '<html>', 'gone'],
  ['slack', 410, 'channel_is_archived', 'gone'],
  ['slack', 500, 'rollup_error', 'retry'],
  ['slack', 302, '', 'retry'],
  ['teams', 202, '', 'delivered'],
  ['teams', 200, '1', 'delivered'],
  [
    'teams',
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429',
    'retry',
  ],
  [
    'teams',
    200,
    'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 404',
    'gone',
  ],
  ['teams', 413, '', 'refused'],
  ['teams', 400, '{"error":{"code":"TriggerInputSchemaMismatch"}}', 'refused'],
  ['teams', 400, `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"… with state 'Deleted'"}}`, 'gone'],
  ['discord', 204, '', 'delivered'],
  ['discord', 404, '{"message":"Unknown Webhook","code":10015}', 'gone'],
  ['discord', 401, '{"message":"Invalid Webhook Token","code":50027}', 'gone'],
  ['discord', 403, '{"message":"internal network error","code":40333}', 'retry'],
  ['discord', 403, '{"message":"Missing Permissions","code":50013}', 'gone'],
  ['slack', 403, '<!doctype html><title>Access denied</title>', 'retry'],
  ['google_chat', 401, '\n<html>Sign in to the proxy</html>', 'retry'],
  ['discord', 429, '{"retry_after":3}', 'retry'],
  ['google_chat', 200, '{"name":"spaces/A/messages/B"}', 'delivered'],
  ['google_chat', 200, '{"error":{"code":500}}', 'retry'],
  ['google_chat', 400, '{}', 'refused'],
  ['google_chat', 503, '', 'retry'],
])('%s with %i %s means %s', ([kind, status, body, state]) => {
  expect(judgeChat(kind, { status, body }).state).toBe(state);
});
