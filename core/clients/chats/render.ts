import { cut } from '#lib/text.ts';
import type { ChatKind } from './address.ts';

export interface ChatMessage {
  readonly title: string;
  /** One line: what happened and when. */
  readonly facts: string;
  /** Markdown, of any length. */
  readonly text: string;
  readonly link: { readonly label: string; readonly url: string };
}

/** Writes the body of a message in the form of a chat. A text that is too long for the chat ends before the link. */
export function renderChat(kind: ChatKind, message: ChatMessage): string {
  return JSON.stringify(FORMS[kind](message));
}

/** Rules of a chat for text: its markup, and the room in one message. */
interface Dialect {
  readonly room: number;
  readonly sizeOf: (text: string) => number;
  readonly plain: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly link: (label: string, url: string) => string;
}

const markdown = {
  bold: (text: string) => `**${text}**`,
  link: (label: string, url: string) => `[${label}](${url})`,
};
const angled = {
  bold: (text: string) => `*${text}*`,
  link: (label: string, url: string) => `<${url}|${label.replaceAll('|', '/')}>`,
};

/** A section of Slack takes 3,000 characters. */
const SLACK: Dialect = {
  ...angled,
  room: 2_900,
  sizeOf: (text) => text.length,
  plain: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
};
/** The description of an embed takes 4,096 characters. */
const DISCORD: Dialect = { ...markdown, room: 3_700, sizeOf: (text) => text.length, plain: (text) => text };
/** A card of Teams takes 28 KB. */
const TEAMS: Dialect = { ...markdown, room: 12_000, sizeOf: (text) => Buffer.byteLength(text), plain: (text) => text };
/** A text message takes 4,096 characters. Angle brackets are replaced, because `<users/all>` would notify everyone. */
const GOOGLE: Dialect = {
  ...angled,
  room: 3_000,
  sizeOf: (text) => Buffer.byteLength(text),
  plain: (text) => text.replaceAll('<', '‹').replaceAll('>', '›'),
};

const FORMS: Readonly<Record<ChatKind, (message: ChatMessage) => unknown>> = {
  slack({ title, facts, text, link }) {
    const section = (written: string) => ({ type: 'section', text: { type: 'mrkdwn', text: written } });
    const body = written(SLACK, text);
    return {
      text: SLACK.plain(`${title}: ${facts}`),
      blocks: [
        section(`${SLACK.bold(SLACK.plain(title))}\n${SLACK.plain(facts)}`),
        ...(body === '' ? [] : [section(body)]),
        { type: 'context', elements: [{ type: 'mrkdwn', text: SLACK.link(link.label, link.url) }] },
      ],
      unfurl_links: false,
      unfurl_media: false,
    };
  },
  discord: ({ title, facts, text, link }) => ({
    embeds: [
      {
        title: cut(title, 250),
        url: link.url,
        description: `${written(DISCORD, text)}\n\n${DISCORD.link(link.label, link.url)}`,
        footer: { text: facts },
      },
    ],
    // Names in the text must not notify anyone.
    allowed_mentions: { parse: [] },
  }),
  teams({ title, facts, text, link }) {
    const block = (words: string, more = {}) => ({ type: 'TextBlock', text: words, wrap: true, ...more });
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        block(title, { weight: 'Bolder', size: 'Medium' }),
        block(facts, { isSubtle: true, spacing: 'None' }),
        ...(text === '' ? [] : [block(written(TEAMS, text).replaceAll('\n', '\n\n'))]),
        block(TEAMS.link(link.label, link.url)),
      ],
    };
    const contentType = 'application/vnd.microsoft.card.adaptive';
    return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
  },
  google_chat: ({ title, facts, text, link }) => ({
    text: [
      `${GOOGLE.bold(GOOGLE.plain(title))}\n${GOOGLE.plain(facts)}`,
      written(GOOGLE, text),
      GOOGLE.link(link.label, link.url),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  }),
};

/** Writes the lines of a text that fit, and an ellipsis if more follow. */
function written(dialect: Dialect, text: string): string {
  const lines: string[] = [];
  let room = dialect.room;
  for (const line of text.trim().split('\n')) {
    const whole = lineIn(dialect, line);
    const size = dialect.sizeOf(whole) + 1;
    if (size > room) {
      const start = lines.length === 0 ? lineIn(dialect, cut(line, Math.floor(dialect.room / LARGEST))) : '';
      return [...lines, `${start}…`].join('\n');
    }
    room -= size;
    lines.push(whole);
  }
  return lines.join('\n');
}

/** Most units of size that one character can become: `&` becomes five in Slack's `&amp;`. */
const LARGEST = 5;

/** Matches links with an address, and bold text. Headings become bold text, because no chat supports them. */
const MARKS = /\[(?<label>[^\]\n]{1,300})\]\((?<url>https?:\/\/[^\s()<>|]{1,1000})\)|\*\*(?<bold>[^*\n]{1,300})\*\*/g;

function lineIn({ plain, bold, link }: Dialect, line: string): string {
  const heading = /^#{1,6}\s+(.*)/.exec(line)?.[1];
  if (heading !== undefined) return bold(plain(heading.replaceAll('**', '')));
  let at = 0;
  let out = '';
  for (const match of line.matchAll(MARKS)) {
    const { label = '', url = '', bold: strong } = match.groups ?? {};
    out += plain(line.slice(at, match.index)) + (strong === undefined ? link(plain(label), url) : bold(plain(strong)));
    at = match.index + match[0].length;
  }
  return out + plain(line.slice(at));
}
