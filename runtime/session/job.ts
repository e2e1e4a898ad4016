import type { Protocol } from '#lib/provider-file/protocols.ts';
import type { LimitWords } from './classify.ts';

/** Input of a session, one line on its standard input. It holds no credential. */
export interface SessionJob {
  readonly protocol: Protocol;
  /** The only path that the broker allows. */
  readonly path: string;
  readonly modelId: string;
  readonly instructions: string;
  readonly messages: readonly unknown[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
  }[];
  readonly maxOutputTokens: number | null;
  /** JSON Schema that the text is asked for by; absent for any text. */
  readonly resultSchema?: Readonly<Record<string, unknown>>;
  readonly options: {
    readonly stream: 'with_usage' | 'plain';
    readonly omit: readonly string[];
    readonly toolNamespace?: string | undefined;
  };
  readonly limits: LimitWords;
  /** Silence of the model after which the step is given up; bytes that only keep the connection alive do not count. */
  readonly idleMs: number;
}
