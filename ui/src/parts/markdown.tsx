import { SquareCheck, Square } from 'lucide-react';
import { createElement, memo, startTransition, useEffect, useState, type ReactNode } from 'react';
import type { DocumentElement, DocumentNode } from '#ui/format/document.ts';
import { Notice } from './feedback.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet
import './markdown.css';
import { Outline } from './outline.tsx';
import { PlainText } from './plain-text.tsx';
import { useDocument } from './read-document.ts';
import { Scrolling } from './scrolling.tsx';
import { SkeletonText } from './skeleton.tsx';

export interface MarkdownProps {
  readonly text: string;
  /** Lists the headings of a long text beside it. */
  readonly outlined?: boolean;
}

const OUTLINED_WORDS = 1_200;
/** Length that takes a tenth of a second to format. A longer text is shown as written until it is formatted. */
const LONG = 20_000;

/**
 * Shows a model's text as Markdown. Links open in a new tab and lead only to the web or to mail, images are named and
 * not loaded, and HTML is shown as text. A text that is too large for a page is shown as plain text.
 */
export default function MarkdownText({ text, outlined = false }: MarkdownProps) {
  const read = useDocument(text);
  if (read === undefined) {
    return (
      <div aria-busy="true">
        {text.length > LONG ? <PlainText text={text.slice(0, LONG)} label="text" /> : <SkeletonText lines={4} />}
      </div>
    );
  }
  if (read.kind === 'plain') {
    return (
      <>
        <Notice className="mb-3">Shown as plain text: {read.reason}.</Notice>
        <PlainText text={text} label="text" />
      </>
    );
  }
  const content = (
    <div className="prose-text min-w-0 text-base text-ink">
      <Growing nodes={read.nodes} />
    </div>
  );
  if (!outlined || read.words < OUTLINED_WORDS || read.outline.length < 2) return content;
  return (
    <div className="grid grid-cols-1 gap-x-6 gap-y-4 xl:grid-cols-[minmax(0,1fr)_10.5rem]">
      <Outline entries={read.outline} />
      {content}
    </div>
  );
}

/** Number of elements added at a time: adding all of a long text at once would block the page. */
const STEP = 600;

/** Shows nodes; a large number of them is added step by step. */
function Growing({ nodes, mark = 'span' }: { nodes: readonly DocumentNode[]; mark?: string }) {
  const [shown, setShown] = useState(() => reach(nodes, 0));
  const isAll = shown >= nodes.length;
  useEffect(() => {
    if (isAll) return undefined;
    const timer = setTimeout(() => startTransition(() => setShown(reach(nodes, shown))));
    return () => clearTimeout(timer);
  }, [nodes, shown, isAll]);
  return (
    <>
      {nodes.slice(0, shown).map(draw)}
      {!isAll && createElement(mark, { hidden: true, 'aria-busy': true })}
    </>
  );
}

/** Returns how many nodes are shown after one more step. */
function reach(nodes: readonly DocumentNode[], from: number): number {
  let [at, size] = [from, 0];
  while (at < nodes.length && size < STEP) {
    const node = nodes[at];
    size += typeof node === 'object' ? node.size : 1;
    at += 1;
  }
  return at;
}

function draw(node: DocumentNode, index: number): ReactNode {
  return typeof node === 'string' ? node : <Part key={index} node={node} />;
}

/** Draws an element once, even when elements are added after it. */
const Part = memo(function Part({ node }: { readonly node: DocumentElement }) {
  const { tag, children, id, href, label, start, align, checked } = node;
  switch (tag) {
    case 'br':
    case 'hr':
      return createElement(tag);
    case 'input': {
      const Icon = checked === true ? SquareCheck : Square;
      return <Icon role="img" aria-label={checked === true ? 'Done' : 'Open'} className="task" />;
    }
    case 'a':
      return (
        <a
          id={id}
          href={href}
          aria-label={label}
          {...(href?.startsWith('#') === true ? {} : { target: '_blank', rel: 'noreferrer noopener nofollow' })}
        >
          {children.map(draw)}
        </a>
      );
    case 'pre':
      return (
        // Reachable by keyboard, because the text may scroll.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        <pre tabIndex={0}>{children.map(draw)}</pre>
      );
    case 'table':
      return (
        <Scrolling label="Table">
          <table>{children.map(draw)}</table>
        </Scrolling>
      );
    default:
      return createElement(
        tag,
        { id, start, ...(align === undefined ? {} : { style: { textAlign: align } }) },
        node.size > STEP ? <Growing nodes={children} mark={MARKS[tag] ?? 'span'} /> : children.map(draw),
      );
  }
});

/** Elements that mark the place of further nodes where only certain elements are allowed. */
const MARKS: Readonly<Record<string, string>> = { ol: 'li', ul: 'li', tbody: 'tr', tr: 'td' };
