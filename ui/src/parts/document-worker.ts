/** Entry of a worker: reads one text, whose time on the page's own thread no one could bound. */
import { documentOf } from '#ui/format/document.ts';

self.addEventListener('message', ({ data }: MessageEvent<string>) => {
  self.postMessage(documentOf(data));
});
