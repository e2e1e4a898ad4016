export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as text. */
  readonly text: string;
  /** The parsed body, of any type. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  readonly body: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly data: any;
}

/** Calls the API over HTTP with fixed headers, such as those of a key or a session. */
export class ApiClient {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.baseUrl = baseUrl;
    this.headers = headers;
  }

  with(headers: Readonly<Record<string, string>>): ApiClient {
    return new ApiClient(this.baseUrl, { ...this.headers, ...headers });
  }

  /** Returns a client of another process for the same caller. */
  at(baseUrl: string): ApiClient {
    return new ApiClient(baseUrl, this.headers);
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.send('POST', path, body);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.send('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.send('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...this.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
    const data = typeof parsed === 'object' && parsed !== null && 'data' in parsed ? parsed.data : undefined;
    return { status: response.status, headers: response.headers, text, body: parsed, data };
  }
}
