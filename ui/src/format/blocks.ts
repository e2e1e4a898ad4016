import type { DocumentElement, DocumentNode } from './document.ts';

/** A line of a formatted text: a paragraph, a heading, an item of a list, a line of code, or a row of a table. */
export interface Block {
  readonly look: 'text' | 'heading' | 'item' | 'code' | 'row';
  /** Number of lists and quotes around the line. */
  readonly depth: number;
  /** The text of the line, or the texts of the row's cells. */
  readonly cells: readonly string[];
  /** Names of the columns of a row; empty for other blocks. */
  readonly columns: readonly string[];
}

/** Splits a formatted text into lines that can be compared with those of another text. */
export function blocksOf(nodes: readonly DocumentNode[], depth = 0): Block[] {
  const blocks: Block[] = [];
  let inline = '';
  const flush = () => {
    const text = inline.replaceAll(/\s+/g, ' ').trim();
    if (text !== '') blocks.push(lineOf('text', depth, text));
    inline = '';
  };
  for (const node of nodes) {
    if (typeof node === 'string' || !BLOCKS.has(node.tag)) {
      inline += textOf(node);
    } else {
      flush();
      blocks.push(...within(node, depth));
    }
  }
  flush();
  return blocks;
}

const BLOCKS: ReadonlySet<string> = new Set('blockquote h3 h4 h5 h6 hr li ol p pre section table ul'.split(' '));

function within(node: DocumentElement, depth: number): Block[] {
  const { tag, children } = node;
  if (tag === 'table') return rowsOf(node, depth);
  if (tag === 'hr') return [];
  if (tag === 'pre') {
    const lines = textOf(node).replace(/\n$/, '').split('\n');
    return lines.map((line) => lineOf('code', depth, line));
  }
  if (tag === 'li') {
    const [first, ...rest] = blocksOf(children, depth);
    return first === undefined ? [] : [{ ...first, look: 'item' }, ...rest];
  }
  const isDeeper = tag === 'ul' || tag === 'ol' || tag === 'blockquote';
  const inside = blocksOf(children, depth + (isDeeper ? 1 : 0));
  return /^h\d$/.test(tag) ? inside.map((block) => ({ ...block, look: 'heading' })) : inside;
}

function lineOf(look: Block['look'], depth: number, text: string): Block {
  return { look, depth, cells: [text], columns: [] };
}

function rowsOf(table: DocumentElement, depth: number): Block[] {
  const [head = [], ...rows] = elementsIn(table, 'tr').map(({ children }) =>
    children.map((cell) => textOf(cell).replaceAll(/\s+/g, ' ').trim()),
  );
  const columns = head.map((name, nth) => (head.indexOf(name) === nth ? name : `${name} (${nth + 1})`));
  return rows.map((cells) => ({ look: 'row', depth, cells, columns }));
}

function elementsIn({ children }: DocumentElement, tag: string): DocumentElement[] {
  return children.flatMap((child) => {
    if (typeof child === 'string') return [];
    return child.tag === tag ? [child] : elementsIn(child, tag);
  });
}

function textOf(node: DocumentNode): string {
  if (typeof node === 'string') return node;
  if (node.tag === 'br') return ' ';
  if (node.tag === 'input') return node.checked === true ? '☑ ' : '☐ ';
  return node.children.map(textOf).join('');
}
