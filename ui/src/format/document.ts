import type { Nodes } from 'hast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { drawn } from './drawn.ts';
import { hrefOf, refusalOf, tagOf, type DocumentTag } from './document-limits.ts';

/** A heading in the outline of a text. */
export interface OutlineEntry {
  readonly id: string;
  readonly text: string;
  /** 0 for the highest level that the text uses. */
  readonly depth: number;
}

/** An element that is safe to show: its tag and attributes are from closed lists. */
export interface DocumentElement {
  readonly tag: DocumentTag;
  readonly children: readonly DocumentNode[];
  /** Number of elements: this one and all inside it. */
  readonly size: number;
  readonly id?: string;
  /** An address of the web or of mail, or a place in the same text. */
  readonly href?: string;
  /** Name for screen readers, if the content alone says too little. */
  readonly label?: string;
  readonly start?: number;
  readonly align?: 'left' | 'center' | 'right';
  readonly checked?: boolean;
}

export type DocumentNode = string | DocumentElement;

export interface TextDocument {
  readonly kind: 'document';
  readonly nodes: readonly DocumentNode[];
  readonly words: number;
  readonly outline: readonly OutlineEntry[];
}

/** A text that is not formatted. */
export interface PlainDocument {
  readonly kind: 'plain';
  /** Completes "Shown as plain text: ". */
  readonly reason: string;
}

/** The most elements that are shown. */
const MAX_ELEMENTS = 40_000;
const MAX_DEPTH = 60;
const TOO_DEEP = 'its parts are nested too deep';

/**
 * Parses Markdown by the rules of GitHub. A hostile text may take very long, so pages call this function in a worker.
 */
export function documentOf(text: string): TextDocument | PlainDocument {
  const refusal = refusalOf(text);
  if (refusal !== undefined) return { kind: 'plain', reason: refusal };
  try {
    const markdown = fromMarkdown(text, {
      extensions: [gfm()],
      mdastExtensions: [gfmFromMarkdown()],
    });
    const tree = toHast(markdown, { allowDangerousHtml: true, clobberPrefix: 'note-' });
    return new Reader().read(tree);
  } catch (error) {
    if (error instanceof Refused) return { kind: 'plain', reason: error.message };
    // The parser recurses for each level, so a text that nests too deep exceeds the stack.
    return { kind: 'plain', reason: error instanceof RangeError ? TOO_DEEP : 'it cannot be read' };
  }
}

class Refused extends Error {}

class Reader {
  #elements = 0;
  #words = 0;
  readonly #outline: { id: string; text: string; level: number }[] = [];

  read(tree: Nodes): TextDocument {
    const top = Math.min(6, ...levelsIn(tree));
    const nodes = this.#childrenOf(tree, 0, top);
    const outline = this.#outline.map(({ level, ...entry }) => ({ ...entry, depth: level - top }));
    return { kind: 'document', nodes, words: this.#words, outline };
  }

  #childrenOf(parent: Nodes, depth: number, top: number): DocumentNode[] {
    if (!('children' in parent)) return [];
    if (depth > MAX_DEPTH) throw new Refused(TOO_DEEP);
    const isBlock = parent.type === 'root' || BLOCKS.has('tagName' in parent ? parent.tagName : '');
    return parent.children.flatMap((child): DocumentNode[] => {
      // Markup in the text is shown as text and never run.
      if (child.type === 'text' || child.type === ('raw' as string)) {
        const value = 'value' in child ? child.value : '';
        if (isBlock && value.trim() === '') return [];
        this.#words += value.match(/\S+/g)?.length ?? 0;
        return [drawn(value)];
      }
      return child.type === 'element' ? [this.#element(child, depth, top)] : [];
    });
  }

  #element(
    { tagName, properties, ...rest }: Extract<Nodes, { type: 'element' }>,
    depth: number,
    top: number,
  ): DocumentElement {
    this.#elements += 1;
    if (this.#elements > MAX_ELEMENTS) {
      throw new Refused(`it has more than ${MAX_ELEMENTS.toLocaleString('en')} parts`);
    }
    if (tagName === 'img') {
      const name = typeof properties['alt'] === 'string' ? properties['alt'] : '';
      return { tag: 'em', children: [name === '' ? 'Image' : drawn(name)], size: 1 };
    }
    const before = this.#elements;
    const children = this.#childrenOf({ tagName, properties, ...rest }, depth + 1, top);
    const size = this.#elements - before + 1;
    const level = levelOf(tagName);
    if (level === undefined) {
      const attributes = attributesOf(properties, children);
      return { tag: tagOf(tagName), children, size, ...attributes };
    }
    const id = `part-${this.#outline.length + 1}`;
    this.#outline.push({ id, text: textOf(children).trim(), level });
    // Begin at level 3, because the page has two levels of headings above the text.
    const tag = tagOf(`h${Math.min(6, level - top + 3)}`);
    return { tag, id, children, size };
  }
}

/** Elements that contain only elements, so line breaks between them mean nothing. */
const BLOCKS: ReadonlySet<string> = new Set('ul ol table thead tbody tr'.split(' '));

function attributesOf(
  properties: Readonly<Record<string, unknown>>,
  children: readonly DocumentNode[],
): Partial<Omit<DocumentElement, 'tag' | 'children' | 'size'>> {
  const { id, href, start, align, checked } = properties;
  const link = typeof href === 'string' ? hrefOf(href) : undefined;
  return {
    ...(typeof id === 'string' && id.startsWith('note-') ? { id } : {}),
    ...(link === undefined ? {} : { href: link }),
    ...labelOf(properties, children),
    ...(typeof start === 'number' ? { start } : {}),
    ...(align === 'left' || align === 'center' || align === 'right' ? { align } : {}),
    ...(typeof checked === 'boolean' ? { checked } : {}),
  };
}

/** Names the two ends of a footnote, which the page shows as a number and an arrow. */
function labelOf(
  { dataFootnoteRef, ariaLabel }: Readonly<Record<string, unknown>>,
  children: readonly DocumentNode[],
): { readonly label?: string } {
  if (typeof ariaLabel === 'string') return { label: drawn(ariaLabel) };
  return dataFootnoteRef === undefined ? {} : { label: `Footnote ${textOf(children)}` };
}

function levelOf(tagName: string): number | undefined {
  return /^h[1-6]$/.test(tagName) ? Number(tagName[1]) : undefined;
}

/** Returns the levels of all headings, also of those in quotes. */
function levelsIn(tree: Nodes): number[] {
  const levels: number[] = [];
  const open: Nodes[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const level = node.type === 'element' ? levelOf(node.tagName) : undefined;
    // Leave out the title of the footnotes, which the parser adds.
    if (level !== undefined && node.type === 'element' && node.properties['id'] === undefined) {
      levels.push(level);
    }
    if ('children' in node) for (const child of node.children) open.push(child);
  }
  return levels;
}

function textOf(nodes: readonly DocumentNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}
