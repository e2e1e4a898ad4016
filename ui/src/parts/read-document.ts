import { useEffect, useState } from 'react';
import type { PlainDocument, TextDocument } from '#ui/format/document.ts';

type Read = TextDocument | PlainDocument;

/** A result of 400,000 characters takes three seconds of a processor at most, which may be busy. */
const MAX_MS = 15_000;

/** Formats a text beside the page's own thread; undefined until that is done. The last one stays meanwhile. */
export function useDocument(text: string): Read | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    const worker = new Worker(new URL('./document-worker.ts', import.meta.url), { type: 'module' });
    const end = (found: Read) => {
      worker.terminate();
      clearTimeout(timer);
      setRead(found);
    };
    const timer = setTimeout(() => end(plain('it takes too long to format')), MAX_MS);
    worker.addEventListener('message', ({ data }: MessageEvent<Read>) => end(data));
    worker.addEventListener('error', () => end(plain('this browser could not format it')));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(text);
    return () => {
      worker.terminate();
      clearTimeout(timer);
    };
  }, [text]);
  return read;
}

function plain(reason: string): PlainDocument {
  return { kind: 'plain', reason };
}
