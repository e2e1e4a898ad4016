import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Shows a model's text as Markdown. Links open in a new tab, images are named and not loaded, and HTML is ignored. */
export default function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div className="prose-text text-base text-ink">
      <Markdown
        remarkPlugins={[remarkGfm]}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noreferrer noopener nofollow">
              {children}
            </a>
          ),
          img: ({ alt }) => <em>{alt === undefined || alt === '' ? 'Image' : alt}</em>,
          pre: ({ children }) => (
            // Reachable by keyboard, as it may scroll.
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
            <pre tabIndex={0}>{children}</pre>
          ),
          table: ({ children }) => (
            <div className="overflow-x-auto">
              <table>{children}</table>
            </div>
          ),
        }}
      >
        {text}
      </Markdown>
    </div>
  );
}
