export interface StreamedEvent {
  readonly event: string;
  readonly id: string;
  readonly retry: string | undefined;
  /** The parsed data, of any type. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  readonly data: any;
}

export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** Returns the next event. Throws when the stream has ended, or the response is no stream. */
  next(): Promise<StreamedEvent>;
  /** Returns every event until the server ends the stream. Throws when the response is no stream. */
  rest(): Promise<StreamedEvent[]>;
  /** Closes the connection without notice. */
  close(): void;
}

/** Reads server-sent events like a browser's EventSource, but with chosen headers. */
export async function openStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const gone = new AbortController();
  const response = await fetch(url, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: gone.signal,
  });
  const events = parse(response);
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      const { value, done } = await events.next();
      if (done === true) throw new Error('the stream has ended');
      return value;
    },
    async rest() {
      const rest: StreamedEvent[] = [];
      for await (const event of events) rest.push(event);
      return rest;
    },
    close: () => gone.abort(),
  };
}

async function* parse(response: Response): AsyncGenerator<StreamedEvent> {
  const { body, status } = response;
  if (status === 204 || body === null) return;
  if (status !== 200) throw new Error(`no stream but ${status}: ${await response.text()}`);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const colon = line.indexOf(': ');
          return [line.slice(0, colon), line.slice(colon + 2)] as const;
        }),
      );
      const data = fields.get('data');
      if (data === undefined) continue;
      const event = fields.get('event') ?? 'message';
      yield {
        event,
        id: fields.get('id') ?? '',
        retry: fields.get('retry'),
        data: JSON.parse(data),
      };
    }
  }
}
