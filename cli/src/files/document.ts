import { isDeepStrictEqual } from 'node:util';
import { Document, isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, type ParsedNode, visit } from 'yaml';
import { type Fault, FaultyFiles, firstOf } from './faults.ts';

/** Fields of a head, by their names in the API. */
export type Head = Readonly<Record<string, unknown>>;

/** Path from the head to a faulty field: names, and places in lists. */
export type FieldPath = readonly (string | number)[];

/** A file with a YAML head between two lines `---`, and a text below it. */
export interface HeadedDocument {
  readonly head: Head;
  /** The text, without the one line break that ends the file. */
  readonly body: string;
  /** Returns the line and column of a field's name or of its value. */
  place(path: FieldPath, of: 'name' | 'value'): { line: number; column: number };
  /** Returns the file with another head and text; comments stay. */
  rewritten(head: Head, body: string): string;
}

const FENCE = '---';

/**
 * Reads a file.
 * @throws {FaultyFiles} with all faults of its form
 */
export function parseHeaded(file: string, text: string): HeadedDocument {
  const refuse = (message: string, line?: number, column?: number): never => {
    throw new FaultyFiles([{ file, line, column, message }]);
  };
  if (text.startsWith('\uFEFF')) {
    refuse('begins with a byte order mark; save it as UTF-8 without one', 1, 1);
  }
  const first = text.slice(0, text.indexOf('\n') + 1);
  if (first === `${FENCE}\r\n`) refuse(WINDOWS, 1, 4);
  if (first !== `${FENCE}\n`) refuse('has no head: its first line has to be ---', 1, 1);
  const end = text.indexOf(`\n${FENCE}\n`, FENCE.length);
  const last = text.endsWith(`\n${FENCE}`) ? text.length - FENCE.length - 1 : -1;
  const close = end === -1 ? last : end;
  if (close < 0 && text.includes(`\n${FENCE}\r`)) refuse(WINDOWS);
  if (close < 0) refuse('its head is not closed: a line --- has to follow the last field', 1, 1);
  const yaml = text.slice(first.length, close + 1);
  const cr = yaml.indexOf('\r');
  if (cr !== -1) refuse(WINDOWS, yaml.slice(0, cr).split('\n').length + 1);
  const body = text.slice(close + FENCE.length + 2).replace(/\n$/, '');
  if (body.includes('\0')) refuse('the text has a NUL character');
  const { document, lines } = parseYaml(file, yaml, 1);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a map, by parseYaml
  const head = (document.toJS() ?? {}) as Head;
  return {
    head,
    body,
    place: (path, of) => placeIn(document, lines, path, of, 1),
    rewritten(newHead, newBody) {
      const names = new Set([...Object.keys(head), ...Object.keys(newHead)]);
      for (const name of names) {
        if (newHead[name] === undefined) document.delete(name);
        else if (!isDeepStrictEqual(head[name], newHead[name])) document.set(name, newHead[name]);
      }
      return render(document, newBody);
    },
  };
}

const WINDOWS =
  'has Windows line ends (CRLF), which would change the text; save it with LF, as `ras init` tells git by .gitattributes';

/** Writes a new file. Its first comment points editors to the schema of its head. */
export function renderHeaded(head: Head, body: string, schema: string): string {
  const document = new Document(head);
  document.commentBefore = ` yaml-language-server: $schema=${schema}`;
  return render(document, body);
}

function render(document: Document | Document.Parsed, body: string): string {
  const yaml = document.toString({ lineWidth: 0 });
  return `${FENCE}\n${yaml}${FENCE}\n${body}\n`;
}

/**
 * Parses YAML 1.2 with JSON values only. Anchors are refused, because a line must be complete by itself, and repeated
 * anchors could make a small file huge.
 * @throws {FaultyFiles}
 */
export function parseYaml(file: string, yaml: string, linesBefore: number) {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { file, line: line + linesBefore, column: col };
  };
  const document = parseDocument(yaml, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    version: '1.2',
    // The library would compare every name with every other. `visit` below finds repeated names faster.
    uniqueKeys: false,
  });
  const faults: Fault[] = [...document.errors, ...document.warnings].map(({ pos: [offset], code, message }) => ({
    ...at(offset),
    message: inWords(code, message),
  }));
  visit(document, {
    Node(_, node) {
      const offset = offsetOf(node);
      const hasAnchor = !isAlias(node) && node.anchor !== undefined;
      if (isAlias(node) || hasAnchor) {
        faults.push({ ...at(offset), message: 'anchors and aliases (& and *) are not supported' });
      } else if (node.tag !== undefined) {
        faults.push({ ...at(offset), message: NO_TAGS });
      } else if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
        faults.push({ ...at(offset), message: 'JSON has no such number' });
      } else if (isScalar(node) && typeof node.value === 'number' && isRounded(node.value, node.source)) {
        faults.push({ ...at(offset), message: 'a number has more than 15 digits: write it in quotes' });
      }
      if (!isMap(node)) return;
      const seen = new Set<string>();
      for (const { key } of node.items) {
        const name = isScalar(key) ? String(key.value) : '';
        if (seen.has(name)) {
          faults.push({ ...at(offsetOf(key)), message: `the field "${name}" appears twice` });
        }
        seen.add(name);
      }
    },
  });
  if (faults.length === 0 && document.contents !== null && !isMap(document.contents)) {
    faults.push({ ...at(0), message: 'has to be fields, each `name: value`' });
  }
  // Keep one fault for each place: the parser finds several where it gives up.
  const places = new Set<string>();
  const found = faults.filter(({ line, column }) => places.size < places.add(`${line}:${column}`).size);
  if (found.length > 0) throw new FaultyFiles(firstOf(found));
  return { document, lines };
}

function isRounded(value: number, source = ''): boolean {
  return source.length > 15 && /^-?[\d.]+$/.test(source) && String(value) !== source;
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

const NO_TAGS = 'tags (!) are not supported';

function inWords(code: string, message: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return 'is nested too deeply';
  if (code === 'TAB_AS_INDENT') return 'is indented by a tab; YAML takes only spaces';
  if (code === 'TAG_RESOLVE_FAILED') return NO_TAGS;
  if (code === 'MULTIPLE_DOCS') return 'a second YAML document begins here';
  return message;
}

/** Returns the place of the deepest part of the path that exists. */
export function placeIn(
  document: Document.Parsed,
  lines: LineCounter,
  path: FieldPath,
  of: 'name' | 'value',
  linesBefore: number,
): { line: number; column: number } {
  let node: unknown = document.contents;
  let offset = 0;
  for (const [index, part] of path.entries()) {
    const pair = isMap<ParsedNode>(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === part)
      : undefined;
    const next: unknown =
      pair?.value ?? (isNode(node) && 'get' in node && typeof part === 'number' ? node.get(part, true) : undefined);
    if (!isNode(next)) break;
    const isNamed = of === 'name' && index === path.length - 1;
    const { range } = isNamed && pair !== undefined ? pair.key : next;
    offset = range?.[0] ?? offset;
    node = next;
  }
  const { line, col } = lines.linePos(offset);
  return { line: line + linesBefore, column: col };
}
