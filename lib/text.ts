/** Returns the beginning of a text, without half a character at its end. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, length).replace(HALF, '').toWellFormed();
}

/** Matches the first half of a surrogate pair whose second half was cut off. */
const HALF = /[\uD800-\uDBFF]$/;

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Makes a sentence of a clause without a full stop. */
export function sentence(clause: string): string {
  return `${capitalized(clause)}.`;
}

/** Cuts a foreign text for a list or a log line: one line of whole characters. */
export function shownText(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');
}

/**
 * Matches invisible characters, and characters that reverse text: controls, formats like bidirectional overrides and
 * zero widths, tags, private use. Joiners of scripts and the presentation of emoji are excepted, because text needs
 * them.
 */
const UNSEEN = /(?!\t|\n|\r|\u200C|\u200D|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** Names the first invisible character of a text, like `U+202E`. */
export function unseenIn(text: string): string | undefined {
  const [found] = text.match(UNSEEN) ?? [];
  const hexadecimal = found?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return hexadecimal === undefined ? undefined : `U+${hexadecimal}`;
}

/** Writes a text so that HTML shows it as it is, even inside an attribute. */
export function escapedHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Writes a page of HTML from the rest of its head and its body. */
export function htmlPage(head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

/** Writes the invisible characters of a JSON text as escapes, which mean the same. */
export function withUnseenEscaped(json: string): string {
  return json.replace(UNSEEN, (unseen) =>
    Array.from({ length: unseen.length }, (_, at) => `\\u${unseen.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** Removes invisible characters, in which a model could read commands that a person does not see. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, '');
}

/**
 * Puts a space into everything that a mail program would turn into a link: the scheme of an address, a dot between
 * parts of a host name, a mailbox. Numbers and times of day stay unchanged.
 */
export function withoutLinks(text: string): string {
  return text
    .replaceAll(/(?<=[\p{L}\p{M}\p{N}_-][.。．｡])(?=[\p{L}\p{M}\u200C\u200D])/gu, ' ')
    .replaceAll(/(?<=\p{L}[\p{L}\p{N}+.-]*:)(?=\S)|(?<=\S@)(?=\S)|(?<=[/\\])(?=[/\\])/gu, ' ');
}

/** Decodes the start of UTF-8 text, at most `maxBytes` bytes, without a split character at the end. */
export function utf8Start(bytes: Uint8Array, maxBytes: number): string {
  // In streaming mode the decoder keeps an unfinished character back.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), {
    stream: true,
  });
}

/** Joins the cells of a Markdown table row with dots. Returns any other line unchanged. */
export function withoutPipes(line: string): string {
  const cells = /^\s*\|(.*)\|\s*$/.exec(line)?.[1]?.split(/(?<!\\)\|/);
  return cells?.map((cell) => cell.trim()).join(' · ') ?? line;
}
