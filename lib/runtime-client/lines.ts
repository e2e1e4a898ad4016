import { RuntimeUnreachable } from './unreachable.ts';

/** Splits a stream of bytes into lines. What stands behind the last line end is no line. */
export async function* linesOf(
  body: AsyncIterable<Buffer>,
  maxLineBytes: number,
): AsyncGenerator<string> {
  let parts: string[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    let rest = chunk.toString('latin1');
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      yield parts.join('') + rest.slice(0, end);
      rest = rest.slice(end + 1);
      parts = [];
      bytes = 0;
    }
    bytes += rest.length;
    if (bytes > maxLineBytes) throw new RuntimeUnreachable('broken');
    parts.push(rest);
  }
}
