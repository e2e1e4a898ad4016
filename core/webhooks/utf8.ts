/** The start of UTF-8 text in at most `maxBytes` bytes; a character that would be cut in two is left out. */
export function utf8Start(bytes: Uint8Array, maxBytes: number): string {
  // In streaming mode the decoder keeps an unfinished character back.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), {
    stream: true,
  });
}
