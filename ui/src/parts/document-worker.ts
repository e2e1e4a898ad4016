/** Entry of a worker: parses one text, which on the page's own thread could take unlimited time. */
import { documentOf } from '#ui/format/document.ts';

self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the page that began the worker has none
  self.postMessage(documentOf(data));
});
