/** The text of a response, and the thinking that was written into it. */
export interface SaidText {
  readonly text: string;
  readonly thinking: string;
}

export interface ThinkingHabits {
  /** True if the server's template may have written the opening tag, so that a response begins inside its thinking. */
  readonly beginsInside?: boolean | undefined;
  /** True if the response has reasoning in a separate field. Further blocks in its text are then thinking too. */
  readonly reasons?: boolean | undefined;
}

/**
 * Takes thinking out of a text: blocks at its beginning and, if the response has shown that its model thinks, blocks
 * that begin a line or follow a sentence. Tags in code are quotations. A closing tag without an opening tag counts only
 * if the server may have written the opening tag into its prompt.
 */
export function withoutThinking(content: string, habits: ThinkingHabits = {}): SaidText {
  const channels = finalChannel(content);
  if (channels !== undefined) return channels;
  const { beginsInside = false, reasons = false } = habits;
  if (!beginsInside && !reasons && !BEGINS.test(content)) return { text: content, thinking: '' };
  const tags = tagsIn(content);
  const taken: string[] = [];
  let at = 0;
  let next = 0;
  while (next < MOST_TAGS) {
    const first = tags[next];
    if (first?.kind !== 'open' || first.from !== afterSpace(content, at)) break;
    const end = closingOf(tags, next, content);
    const closing = tags[end];
    // Leave out thinking that was cut off, which is no text.
    if (closing === undefined) return { text: '', thinking: [...taken, content.slice(first.from)].join('\n') };
    taken.push(content.slice(first.to, closing.from));
    at = closing.to;
    next = end + 1;
  }
  const lone = taken.length === 0 && beginsInside ? loneClosing(tags, content) : undefined;
  if (lone !== undefined) {
    taken.push(content.slice(0, lone.from));
    at = lone.to;
    next = 1;
  }
  if (taken.length > 0) at = afterSpace(content, at);
  else if (!reasons) return { text: content, thinking: '' };
  const text = withoutLaterBlocks({ content, at, tags, next }, taken);
  return { text, thinking: taken.join('\n') };
}

/**
 * Returns the visible part of an unfinished text: without open thinking and without half a tag. Text that may have
 * begun inside thinking is shown until a closing tag proves that it is thinking.
 */
export function saidSoFar(content: string, beginsInside = false): string {
  if (/^\s*a[a-z]{0,7}$|^\s*analysis(?=\S)(?![\s\S]*assistantfinal\S)/.test(content)) return '';
  const begun = content.replace(OPEN_END, '');
  const tags = tagsIn(begun);
  const open = tags
    .slice(0, 2 * MOST_TAGS)
    .find(({ kind, from }, at) => kind === 'open' && followsSentence(begun, from) && closingOf(tags, at, begun) < 0);
  return withoutThinking(begun.slice(0, open?.from), { beginsInside, reasons: true }).text;
}

/** Matches the end of a text that may begin a tag, and the head of a channel. */
const OPEN_END = /(?:<\|(?:start|channel)\|>(?:(?!<\|message\|>)[\s\S]){0,200}|[<[◁][^<>[\]\n]{0,110})$/;

/** The most tags at which blocks may begin. Hostile texts contain more; to read them all would cost too much time. */
const MOST_TAGS = 50;

/** A tag that begins or ends thinking, or the line of a code fence. */
interface Tag {
  readonly kind: 'open' | 'close' | 'fence';
  readonly form: number;
  readonly from: number;
  readonly to: number;
}

/** The tags that open and close thinking. */
const FORMS: readonly (readonly [string, string])[] = [
  ...['think|thinking', 'thoughts?', 'reasoning'].map(
    // Tags of Qwen, DeepSeek, Seed, Gemini and others; some put a name space before the name.
    (name) => [`<(?:\\w{2,10}:)?(?:${name})(?:\\s[^<>\\n]{0,100})?>`, `</(?:\\w{2,10}:)?(?:${name})>`] as const,
  ),
  // Tags of Mistral, Kimi, Gemma 4, MedGemma, Command A and OpenThinker.
  ['\\[think\\]', '\\[/think\\]'],
  ['◁think▷', '◁/think▷'],
  ['<\\|channel>(?:thought|thinking|analysis)\\b', '<channel\\|>'],
  ['<unused94>', '<unused95>'],
  ['<\\|START_THINKING\\|>', '<\\|END_THINKING\\|>'],
  ['<\\|begin_of_thought\\|>', '<\\|end_of_thought\\|>'],
];

const BEGINS = new RegExp(`^\\s*(?:${FORMS.map(([open]) => open).join('|')})`, 'i');
const FENCE = '(?:^|(?<=\\n))[ \\t]*(?:```|~~~)[^\\n]*';
const INLINE_CODE = '`[^`\\n]+`';
const TAGS = new RegExp(
  `${FORMS.flat()
    .map((each) => `(${each})`)
    .join('|')}|(${FENCE})|${INLINE_CODE}`,
  'gi',
);

function tagsIn(content: string): Tag[] {
  const tags: Tag[] = [];
  for (const found of content.matchAll(TAGS)) {
    const group = found.findIndex((text, index) => index > 0 && text !== undefined) - 1;
    if (group < 0) continue;
    const kind = group === FORMS.length * 2 ? 'fence' : group % 2 === 0 ? 'open' : 'close';
    tags.push({ kind, form: Math.floor(group / 2), from: found.index, to: found.index + found[0].length });
  }
  return tags;
}

/**
 * Finds the tag that closes a block: the tag that balances nested blocks of the same form, else the first closing tag.
 * A tag in code closes nothing, unless the thinking left its code open.
 * @returns the index of the tag, or -1
 */
function closingOf(tags: readonly Tag[], opening: number, content: string): number {
  const form = tags[opening]?.form;
  let depth = 1;
  let isCode = false;
  let first = -1;
  let inCode = -1;
  for (let index = opening + 1; index < tags.length; index += 1) {
    const tag = tags[index];
    if (tag?.kind === 'fence') isCode = !isCode;
    if (tag === undefined || tag.form !== form || tag.kind === 'fence') continue;
    if (isCode) {
      if (tag.kind === 'close' && inCode < 0 && beginsLine(content, tag.from)) inCode = index;
      continue;
    }
    depth += tag.kind === 'open' ? 1 : -1;
    if (tag.kind === 'close' && first < 0) first = index;
    if (depth === 0) return index;
  }
  return first < 0 ? inCode : first;
}

function loneClosing(tags: readonly Tag[], content: string): Tag | undefined {
  const [closing, ...others] = tags;
  if (closing?.kind !== 'close' || others.some(({ kind }) => kind === 'close')) return undefined;
  const endsLine = /^[ \t]*(?:\r?\n|$)/.test(content.slice(closing.to, closing.to + 80));
  const isReport = /^(?:#{1,6} |\|)/m.test(content.slice(0, closing.from));
  return endsLine && !isReport ? closing : undefined;
}

/** Removes later blocks of thinking, and adds them to `taken`. An opening tag within a sentence is a quotation. */
function withoutLaterBlocks(
  { content, at, tags, next }: { content: string; at: number; tags: readonly Tag[]; next: number },
  taken: string[],
): string {
  let text = '';
  let from = at;
  let isCode = false;
  let openings = 0;
  for (let index = next; index < tags.length && openings < MOST_TAGS; index += 1) {
    const tag = tags[index];
    if (tag === undefined || tag.from < from) continue;
    if (tag.kind === 'fence') isCode = !isCode;
    if (tag.kind !== 'open' || isCode || !followsSentence(content, tag.from)) continue;
    openings += 1;
    const closing = tags[closingOf(tags, index, content)];
    if (closing === undefined) continue;
    taken.push(content.slice(tag.to, closing.from));
    text += content.slice(from, tag.from);
    // Remove the whole line if the block has filled it.
    from = beginsLine(content, tag.from) ? afterSpace(content, closing.to) : closing.to;
  }
  return text + content.slice(from);
}

function afterSpace(content: string, at: number): number {
  const found = /\S/g;
  found.lastIndex = at;
  return found.exec(content)?.index ?? content.length;
}

function beginsLine(content: string, at: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(content.slice(Math.max(0, at - 80), at));
}

function followsSentence(content: string, at: number): boolean {
  return /(?:^|[\n.!?)\]}>"…。！？])[ \t]*$/.test(content.slice(Math.max(0, at - 80), at));
}

const CHANNELS = /^\s*(?:<\|start\|>\w*\s*)?<\|channel\|>/;
const CHANNEL =
  /(?:<\|start\|>[^<]*)?<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>([\s\S]*?)(?:<\|end\|>|<\|return\|>|(?=<\|call\|>|<\|start\|>|<\|channel\|>)|$)/g;

/** Matches the channels of gpt-oss when a server has dropped the marks between them. */
const BARE_CHANNELS = /^\s*analysis(?=\S)([\s\S]*?)assistantfinal(?=\S)/;

/** Reads the channels of gpt-oss if a server passes them on; undefined for any other text. A call stays unchanged. */
function finalChannel(content: string): SaidText | undefined {
  const bare = BARE_CHANNELS.exec(content);
  if (bare !== null) return { text: content.slice(bare[0].length), thinking: bare[1] ?? '' };
  if (!CHANNELS.test(content)) return undefined;
  const taken: string[] = [];
  const text = content.replaceAll(CHANNEL, (part: string, channel: string, said: string) => {
    if (/\bto=/.test(part.slice(0, part.length - said.length))) return part;
    if (channel !== 'analysis') return said;
    taken.push(said);
    return '';
  });
  return { text: text.trimStart(), thinking: taken.join('\n') };
}
