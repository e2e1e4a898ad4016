import { useEffect, useMemo, useState } from 'react';
import { refusalOf } from '#ui/format/document-limits.ts';
import type { PlainDocument, TextDocument } from '#ui/format/document.ts';

type Read = TextDocument | PlainDocument;

/** Longest time to format a text. 400,000 characters take at most three seconds, but the processor may be busy. */
const MAX_MS = 15_000;

/** An idle worker whose code is loaded or loading. */
let spare: Worker | undefined;

/** Loads the formatter before the first text arrives, so that a page need not wait for it. */
export function prepareToRead(): void {
  spare ??= createWorker();
}

function createWorker(): Worker {
  return new Worker(new URL('./document-worker.ts', import.meta.url), { type: 'module' });
}

function takeWorker(): Worker {
  const worker = spare ?? createWorker();
  spare = undefined;
  return worker;
}

/** Formats a text in another thread. Returns the last result meanwhile, undefined before the first. */
export function useDocument(text: string): Read | undefined {
  const [read, setRead] = useState<Read>();
  // The page itself checks the text, because checking each line costs less than a worker.
  const refused = useMemo(() => {
    const reason = refusalOf(text);
    return reason === undefined ? undefined : plain(reason);
  }, [text]);
  useEffect(() => {
    if (refused !== undefined) return undefined;
    const worker = takeWorker();
    const listening = new AbortController();
    const { signal } = listening;
    const end = (found: Read | undefined) => {
      clearTimeout(timer);
      listening.abort();
      if (found !== undefined) setRead(found);
    };
    // End this worker, because it is busy. An idle one is kept for the next text.
    const giveUp = (found?: Read) => {
      if (signal.aborted) return;
      worker.terminate();
      end(found);
    };
    const timer = setTimeout(() => giveUp(plain('it takes too long to format')), MAX_MS);
    worker.addEventListener(
      'message',
      ({ data }: MessageEvent<Read>) => {
        if (spare === undefined) spare = worker;
        else worker.terminate();
        end(data);
      },
      { signal },
    );
    worker.addEventListener('error', () => giveUp(plain('this browser could not format it')), {
      signal,
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage(text);
    return () => giveUp();
  }, [text, refused]);
  return refused ?? read;
}

function plain(reason: string): PlainDocument {
  return { kind: 'plain', reason };
}
