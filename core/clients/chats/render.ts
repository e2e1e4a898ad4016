import { cut, withoutPipes, withoutUnseen } from '#lib/text.ts';
import type { ChatKind } from './address.ts';

export interface ChatMessage {
  readonly title: string;
  /** One line: what happened and when. */
  readonly facts: string;
  /** Markdown, of any length. */
  readonly text: string;
  readonly link: { readonly label: string; readonly url: string };
}

/** Writes the body of a message in the format of the chat service. A text that is too long for the chat ends before the link. */
export function renderChat(kind: ChatKind, message: ChatMessage): string {
  const [title, text] = [withoutUnseen(message.title), withoutUnseen(message.text)];
  return JSON.stringify(FORMS[kind]({ ...message, title, text }));
}

/** Rules of a chat for text: its markup, and the room in one message. */
interface Dialect {
  readonly room: number;
  readonly sizeOf: (text: string) => number;
  readonly plain: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly link: (label: string, url: string) => string;
  /** An address without a label. */
  readonly address: (url: string) => string;
}

const markdown = {
  bold: (text: string) => `**${text}**`,
  link: (label: string, url: string) => `[${label}](${url})`,
  address: (url: string) => url,
};
const angled = {
  bold: (text: string) => `*${text}*`,
  link: (label: string, url: string) => `<${url}|${label.replaceAll('|', '/')}>`,
  address: (url: string) => `<${url}>`,
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
/** A card of Teams takes 28 KB as JSON, in which each line ends with two escapes. */
const TEAMS: Dialect = {
  ...markdown,
  room: 20_000,
  sizeOf: (text) => Buffer.byteLength(JSON.stringify(text)) + 1,
  plain: (text) => text,
};
/** A text message takes 4,096 characters. Angle brackets are replaced, because `<users/all>` would notify everyone. */
const GOOGLE: Dialect = {
  ...angled,
  address: (url) => url,
  room: 3_000,
  sizeOf: (text) => Buffer.byteLength(text),
  plain: (text) => text.replaceAll('<', '‹').replaceAll('>', '›'),
};

const FORMS: Readonly<Record<ChatKind, (message: ChatMessage) => unknown>> = {
  slack({ title, facts, text, link }) {
    // Mark the text as verbatim: otherwise Slack finds names like @channel in it, and notifies their people.
    const mrkdwn = (written: string) => ({ type: 'mrkdwn', text: written, verbatim: true });
    const section = (written: string) => ({ type: 'section', text: mrkdwn(written) });
    const body = written(SLACK, text);
    return {
      text: SLACK.plain(`${title}: ${facts}`),
      blocks: [
        section(`${SLACK.bold(SLACK.plain(title))}\n${SLACK.plain(facts)}`),
        ...(body === '' ? [] : [section(body)]),
        { type: 'context', elements: [mrkdwn(SLACK.link(link.label, link.url))] },
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
    // Notify none of the people whom the text names.
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

/** Writes the lines of a text that fit, and an ellipsis if more follow. A block of code ends before the link. */
function written(dialect: Dialect, text: string): string {
  const lines: string[] = [];
  let room = dialect.room;
  for (const line of text.trim().split('\n')) {
    // Leave out the line between the head and the rows of a table.
    if (/^[\s|:-]+$/.test(line) && line.includes('|') && line.includes('-')) continue;
    const whole = lineIn(dialect, line);
    const size = dialect.sizeOf(whole) + 1;
    if (size > room) {
      lines.push(`${startOf(dialect, line, room)}…`);
      break;
    }
    room -= size;
    lines.push(whole);
  }
  const joined = lines.join('\n');
  return joined.split('```').length % 2 === 0 ? `${joined}\n\`\`\`` : joined;
}

/** Writes as much of a line as fits, without a link that is cut in two. */
function startOf(dialect: Dialect, line: string, room: number): string {
  for (let length = Math.min(line.length, room); length > 0; length = Math.floor(length * 0.9)) {
    const start = lineIn(dialect, cut(line, length).replace(/\[[^\]]{0,300}(?:\]\([^)]{0,1000})?$/, ''));
    if (dialect.sizeOf(start) <= room) return start;
  }
  return '';
}

/** Matches links and images with an address, addresses, and bold text. */
const MARKS = new RegExp(
  [
    /!?\[(?<label>[^\]\n]{1,300})\]\((?<url>https?:\/\/(?:[^\s()<>|]|\([^\s()<>|]*\)){1,1000})\)/,
    /(?<address>https?:\/\/[^\s<>|()[\]`]{1,1000}[^\s<>|()[\]`.,:;!?'"*_])/,
    /\*\*(?<bold>[^*\n]{1,300})\*\*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Writes a line in a dialect. No chat has headings or tables: they become bold text, and cells joined by dots. */
function lineIn(dialect: Dialect, line: string): string {
  const { plain, bold } = dialect;
  const heading = /^#{1,6}\s+(.*)/.exec(line)?.[1];
  if (heading !== undefined) return bold(plain(heading.replaceAll('**', '')));
  const text = withoutPipes(line);
  let at = 0;
  let out = '';
  for (const match of text.matchAll(MARKS)) {
    const { bold: strong } = match.groups ?? {};
    out += plain(text.slice(at, match.index)) + (strong === undefined ? linkIn(dialect, match) : bold(plain(strong)));
    at = match.index + match[0].length;
  }
  return out + plain(text.slice(at));
}

/** Writes a link. A label that looks like another address is left out, because it would hide the real one. */
function linkIn({ plain, link, address }: Dialect, { groups = {} }: RegExpExecArray): string {
  const { label, url = groups['address'] ?? '' } = groups;
  const isHidden = label !== undefined && /\w\.[a-z]{2,}|\/\//i.test(label) && !url.includes(label.trim());
  return label === undefined || isHidden ? address(plain(url)) : link(plain(label), plain(url));
}
