/** A server-sent event. A comment has no fields. */
export interface StreamedEvent {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
  readonly data: string | undefined;
}

/**
 * Reads the events of a stream (HTML Standard, section 9.2.6) with the line ends of the service.
 * @param read returns the next bytes, undefined at the end
 */
export async function* readEvents(
  read: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let lines: string[] = [];
  for (let bytes = await read(); bytes !== undefined; bytes = await read()) {
    text += decoder.decode(bytes, { stream: true });
    const complete = text.split(/\r?\n/);
    text = complete.pop() ?? '';
    for (const line of complete) {
      if (line === '') {
        yield eventOf(lines);
        lines = [];
      } else {
        lines.push(line);
      }
    }
  }
}

function eventOf(lines: readonly string[]): StreamedEvent {
  const fields: Record<string, string | undefined> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    const before = name === 'data' ? fields['data'] : undefined;
    fields[name] = before === undefined ? value : `${before}\n${value}`;
  }
  const { event, id, data, retry } = fields;
  const retryMs = /^\d+$/.test(retry ?? '') ? Number(retry) : undefined;
  return { event, id, data, retryMs };
}
