/** Decodes the start of UTF-8 text, at most `maxBytes` bytes, without a character that would be cut in two. */
export function utf8Start(bytes: Uint8Array, maxBytes: number): string {
  // In streaming mode the decoder holds an unfinished character back.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), {
    stream: true,
  });
}
