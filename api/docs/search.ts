import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { escapedHtml, htmlPage } from '#lib/text.ts';
import { FOLDER } from './documents.ts';

/** A part of a document below one heading. */
interface Section {
  readonly file: string;
  readonly title: string;
  readonly heading: string;
  readonly lines: readonly string[];
  readonly lower: string;
}

const MOST_SECTIONS = 50;
const MOST_WORDS = 8;

/** Renders a page of the sections that contain all words of the query, those with all words in the heading first. */
export async function searchPage(query: string): Promise<string> {
  const words = query.slice(0, 200).toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  const hasAll = (text: string) => words.every((word) => text.includes(word));
  const found = words.length === 0 ? [] : (await sections()).filter(({ lower }) => hasAll(lower));
  const named = (section: Section) => (hasAll(`${section.title} ${section.heading}`.toLowerCase()) ? 0 : 1);
  const shown = found.toSorted((a, b) => named(a) - named(b)).slice(0, MOST_SECTIONS);
  const count = found.length > shown.length ? `The first ${shown.length} of ${found.length}` : `${found.length}`;
  return htmlPage(
    '<title>Search the documents</title>',
    `<form action="/docs/search" role="search">
<label>Words <input type="search" name="q" value="${escapedHtml(query)}" maxlength="200" autofocus></label>
<button>Search</button> <a href="/docs">API</a>
</form>
${words.length === 0 ? '' : `<p>${count} ${found.length === 1 ? 'section' : 'sections'} with all words.</p>`}
<ol>
${shown.map((section) => resultOf(section, words)).join('\n')}
</ol>`,
  );
}

function resultOf({ file, title, heading, lines }: Section, words: readonly string[]): string {
  const counts = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word)).length);
  const best = counts.indexOf(Math.max(...counts));
  const excerpt = lines.slice(Math.max(0, best - 1), best + 2).join(' ');
  const place = heading === '' ? title : `${title} › ${heading}`;
  return `<li><a href="/docs/${file}">${marked(place, words)}</a><br>${marked(excerpt, words)}</li>`;
}

let read: Promise<Section[]> | undefined;

/** Returns all sections. The documents are read once, because they do not change while the service runs. */
function sections(): Promise<Section[]> {
  read ??= (async () => {
    const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).toSorted();
    const texts = await Promise.all(files.map((file) => readFile(path.join(FOLDER, file), 'utf8')));
    return texts.flatMap((text, at) => sectionsOf(files[at] ?? '', text));
  })();
  return read;
}

function sectionsOf(file: string, text: string): Section[] {
  const [first = '', ...others] = text.split(/^##+ /m);
  const [title = file] = first.replace(/^# /, '').split('\n', 1);
  return [`\n${first.slice(first.indexOf('\n') + 1)}`, ...others].map((part) => {
    const [heading = '', ...lines] = part.split('\n');
    return { file, title, heading, lines, lower: `${title} ${part}`.toLowerCase() };
  });
}

function marked(text: string, words: readonly string[]): string {
  const literal = words.map((word) => word.replaceAll(/[^\w\s]/g, String.raw`\$&`));
  const pattern = new RegExp(`(${literal.join('|')})`, 'i');
  const parts = text.split(pattern).map(escapedHtml);
  return parts.map((part, at) => (at % 2 === 1 ? `<mark>${part}</mark>` : part)).join('');
}
