import { escapedHtml, withoutLinks, withoutUnseen } from '#lib/text.ts';
import type { MailContent, MailEntry, MailSection } from './message.ts';

/** A link at the end of a mail, to unsubscribe from mails of its kind. */
export interface StopLink {
  readonly label: string;
  readonly url: string;
}

interface Places {
  readonly uiOrigin: string;
  readonly stops: readonly StopLink[];
}

/** Fields that the service writes itself. */
const OURS: ReadonlySet<string> = new Set(['path', 'url', 'tone', 'sign', 'button', 'replyTo']);

/**
 * Removes links and invisible characters from all texts of a mail that the service does not write itself. People,
 * models and pages write names and results, but the mail comes from the operator's domain.
 */
export function withoutForeignLinks<T>(content: T): T {
  const each = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return OURS.has(name) ? value : withoutLinks(withoutUnseen(value));
    if (Array.isArray(value)) return value.map((item) => each(item, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, each(inner, field)]));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only texts are changed
  return each(content) as T;
}

export function bodyOf(content: MailContent, places: Places): { readonly text: string; readonly html: string } {
  const { lines, path, sections = [] } = content;
  const { uiOrigin, stops } = places;
  const paragraphs = [
    ...lines,
    ...sections.flatMap((section) => textOf(section, uiOrigin)),
    ...(path === undefined ? [] : [`${uiOrigin}${path}`]),
    ...(stops.length === 0 ? [] : ['--']),
    ...stops.map(({ label, url }) => `${label}: ${url}`),
  ];
  return { text: `${paragraphs.join('\n\n')}\n`, html: htmlOf(content, places) };
}

/** Writes the page of a mail about an account, with a button in place of its only link. */
export function accountPage(
  { subject, text, button }: { subject: string; text: string; button?: string | undefined },
  uiOrigin: string,
): string {
  const inside = text
    .trim()
    .split('\n\n')
    .map((each) =>
      /^https?:\/\/\S+$/.test(each)
        ? buttonTo(each, button ?? 'Continue')
        : `<p style="margin:0 0 12px">${escapedHtml(each)}</p>`,
    );
  return pageOf({ subject, uiOrigin, inside });
}

function textOf({ heading, path, entries, note }: MailSection, uiOrigin: string): string[] {
  return [
    `${heading}\n${'='.repeat(heading.length)}`,
    ...(path === undefined ? [] : [`${uiOrigin}${path}`]),
    ...entries.map((entry) => entryAsText(entry, uiOrigin)),
    ...(note === undefined ? [] : [note]),
  ];
}

function entryAsText(entry: MailEntry, uiOrigin: string): string {
  const { title, label, facts, lines, differences, path } = entry;
  return [
    `${title} - ${label}`,
    facts,
    ...lines,
    ...differences.map(({ sign, text }) => `${sign} ${text}`),
    `${uiOrigin}${path}`,
  ]
    .filter((line) => line !== '')
    .join('\n  ');
}

function htmlOf(
  { subject, lines, path, button = 'Open in the dashboard', sections = [] }: MailContent,
  places: Places,
) {
  const { uiOrigin, stops } = places;
  const ends = stops.map(
    ({ label, url }) => `<a class="muted" href="${escapedHtml(url)}" style="color:#5b5b63">${escapedHtml(label)}</a>`,
  );
  return pageOf({
    subject,
    uiOrigin,
    inside: [
      ...lines.map((line) => `<p style="margin:0 0 8px">${escapedHtml(line)}</p>`),
      ...sections.map((section) => sectionAsHtml(section, uiOrigin)),
      ...(path === undefined ? [] : [buttonTo(`${uiOrigin}${path}`, button)]),
      ...(ends.length === 0
        ? []
        : [
            `<p class="muted rule" style="margin:0;padding:14px 0 0;border-top:1px solid #e3e3e8;color:#5b5b63;font-size:13px">${ends.join('<br>')}</p>`,
          ]),
    ],
  });
}

function buttonTo(url: string, label: string): string {
  return `<p style="margin:20px 0 24px"><a class="button" href="${escapedHtml(url)}" style="display:inline-block;background:#3d49c4;color:#ffffff;text-decoration:none;border-radius:6px;padding:12px 18px">${escapedHtml(label)}</a></p>`;
}

/**
 * Writes the page of a mail, headed by the address of the instance. Each element has its own style, because many mail
 * programs drop the head; programs that keep the head also get colors for a dark screen. The page has no images and
 * loads nothing.
 */
function pageOf(page: { subject: string; uiOrigin: string; inside: readonly string[] }): string {
  const { subject, uiOrigin, inside } = page;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapedHtml(subject)}</title>
<style>${DARK}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f6f6f7">
<div class="sheet" style="max-width:600px;margin:0 auto;padding:28px 20px;background:#ffffff;color:#1d1d20;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow-wrap:anywhere">
<p style="margin:0 0 18px;font-size:13px"><a class="muted" href="${escapedHtml(`${uiOrigin}/`)}" style="color:#5b5b63;font-weight:600;text-decoration:none">${escapedHtml(`${uiOrigin}/`)}</a></p>
${inside.join('\n')}
</div>
</body>
</html>
`;
}

function sectionAsHtml({ heading, path, entries, note }: MailSection, uiOrigin: string): string {
  const title =
    path === undefined
      ? escapedHtml(heading)
      : `<a class="link" href="${escapedHtml(`${uiOrigin}${path}`)}" style="color:#3540ad">${escapedHtml(heading)}</a>`;
  return `<h2 style="margin:26px 0 4px;font-size:17px;line-height:1.3">${title}</h2>
${entries.map((entry) => entryAsHtml(entry, uiOrigin)).join('\n')}
${note === undefined ? '' : `<p class="muted" style="margin:10px 0 0;color:#5b5b63">${escapedHtml(note)}</p>`}`;
}

function entryAsHtml(entry: MailEntry, uiOrigin: string): string {
  const { title, path, label, tone, facts, lines, differences } = entry;
  const told = lines.map((line) => `<div>${escapedHtml(line)}</div>`);
  const differing = differences.map(
    ({ sign, text }) =>
      `<div><span class="${SIGNS[sign].tone}" style="color:${TONES[SIGNS[sign].tone]};font-family:ui-monospace,Menlo,monospace">${SIGNS[sign].shown}</span> ${escapedHtml(text)}</div>`,
  );
  return `<div class="rule" style="padding:12px 0;border-top:1px solid #e3e3e8">
<div><a class="link" href="${escapedHtml(`${uiOrigin}${path}`)}" style="color:#3540ad;font-weight:600">${escapedHtml(title)}</a> <span class="${tone}" style="color:${TONES[tone]};font-weight:600">${escapedHtml(label)}</span></div>
<div class="muted" style="color:#5b5b63;font-size:13px">${escapedHtml(facts)}</div>
${[...told, ...differing].join('\n')}
</div>`;
}

const TONES = { good: '#1a6b3c', warn: '#8a5200', bad: '#b3261e', plain: '#5b5b63' } as const;

const SIGNS = {
  '+': { shown: '+', tone: 'good' },
  '-': { shown: '&minus;', tone: 'bad' },
  '~': { shown: '~', tone: 'warn' },
} as const;

const DARK = `@media (prefers-color-scheme: dark) {
.page { background: #111113 !important }
.sheet { background: #1a1a1d !important; color: #ececf0 !important }
.muted, .plain { color: #a5a5b0 !important }
.rule { border-color: #33333a !important }
.link { color: #a9b1ff !important }
.button { background: #a9b1ff !important; color: #15151a !important }
.good { color: #7bd49c !important }
.warn { color: #f0b95e !important }
.bad { color: #ff9a90 !important }
}`;
