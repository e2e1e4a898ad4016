import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAtOnce } from '#lib/listen.ts';

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly kind: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** All received bodies, as text. */
  readonly bodies: readonly string[];
  /** Waits until the spans satisfy the condition. */
  until(condition: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Receives traces as a collector does, over OTLP/HTTP in JSON. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const receive = async () => {
      const body = await json(request);
      bodies.push(JSON.stringify(body));
      if (request.url === '/v1/traces') spans.push(...readSpans(body as ExportRequest));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    void receive();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    async until(condition) {
      const end = Date.now() + 60_000;
      while (!condition(spans)) {
        if (Date.now() > end) throw new Error(`only ${spans.map(({ name }) => name).join(', ')}`);
        await sleep(50);
      }
    },
    close: () => closeAtOnce(server),
  };
}

type Value = Readonly<Record<string, unknown>>;
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: Value }[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        kind: number;
        status: { code?: number };
        attributes: readonly { key: string; value: Value }[];
        startTimeUnixNano: string;
        endTimeUnixNano: string;
      }[];
    }[];
  }[];
}

function readSpans({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        service,
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        kind: span.kind,
        failed: span.status.code === 2,
        attributes: attributesOf(span.attributes),
        startedAtMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endedAtMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
      }));
  });
}

function attributesOf(list: readonly { key: string; value: Value }[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
