/** A fault that the server found in a field. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** An error of the API, or of the connection to it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Id of the request in the logs, for a fault of the service; undefined for a fault of the input. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(fields: {
    status: number;
    code: string;
    message: string;
    requestId?: string | undefined;
    retryAfterSeconds?: number | undefined;
  }) {
    super(fields.message);
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code;
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }

  /** Faults of the fields, as the server lists them in its message: `path: text; path: text`. */
  get faults(): readonly Fault[] {
    if (this.status !== 400) return [];
    return this.message.split(/;\s+(?=[\w.[\]]+: )/).flatMap((part) => {
      const [, path, message] = /^([\w.[\]]+): (.+)$/s.exec(part) ?? [];
      return path === undefined || message === undefined ? [] : [{ path, message }];
    });
  }

  /** True when the same request may succeed if it is made again. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function errorOf(response: Response, body: unknown): ApiError {
  const { error, requestId } = record(body);
  const { code, message } = record(error);
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError({
    status: response.status,
    code: typeof code === 'string' ? code : 'unknown',
    message: typeof message === 'string' ? message : 'The service did not say why.',
    requestId:
      response.status < 500
        ? undefined
        : typeof requestId === 'string'
          ? requestId
          : (response.headers.get('x-request-id') ?? undefined),
    retryAfterSeconds: Number.isFinite(wait) ? wait : undefined,
  });
}

/** Makes the error of a request that got no response. */
export function unreachable(): ApiError {
  return new ApiError({
    status: 0,
    code: 'unreachable',
    message: 'The service cannot be reached. Check your connection.',
  });
}

/** Makes the error of a request whose sender declined to prove who they are. */
export function unproven({ status, code, requestId }: ApiError): ApiError {
  const message = 'Nothing has changed, because you did not confirm your identity.';
  return new ApiError({ status, code, message, requestId });
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of an object is unknown
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
