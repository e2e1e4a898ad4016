import type { IncomingMessage } from 'node:http';

export interface RecordedRequest {
  /** Counts from 1 since the start or the last reset. */
  number: number;
  at: string;
  method: string;
  path: string;
  /** Headers. Authorization is only "present": a key must not appear in a test's output. */
  headers: Record<string, string>;
  body: unknown;
  /** True when the client went away before the response was complete. */
  aborted: boolean;
}

/** Number of requests to keep. Benchmarks send hundreds of thousands, and assertions read only the latest. */
const KEPT = 1_000;

export interface Recorder {
  add(request: IncomingMessage, body: unknown): RecordedRequest;
  all(): RecordedRequest[];
  total(): number;
  clear(): void;
}

export function recorder(): Recorder {
  let records: RecordedRequest[] = [];
  let total = 0;
  return {
    add: (request, body) => {
      total += 1;
      const record: RecordedRequest = {
        number: total,
        at: new Date().toISOString(),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: headersOf(request),
        body,
        aborted: false,
      };
      records.push(record);
      if (records.length > 2 * KEPT) records = records.slice(-KEPT);
      return record;
    },
    all: () => records.slice(-KEPT),
    total: () => total,
    clear: () => {
      records = [];
      total = 0;
    },
  };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name === 'authorization' ? 'present' : String(value)]),
  );
}
