/** Entry of a worker: reads one text, whose time on the page's own thread no one could bound. */
import { documentOf } from '#ui/format/document.ts';

self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the page that began the worker has none
  self.postMessage(documentOf(data));
});
