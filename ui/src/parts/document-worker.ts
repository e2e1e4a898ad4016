/** Worker that parses one text. On the page's own thread, a hostile text could block the page without limit. */
import { documentOf } from '#ui/format/document.ts';

self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the page that began the worker has no origin
  self.postMessage(documentOf(data));
});
