import type { IncomingMessage } from 'node:http';

/** Names a behaviour of the tool server; the first part of its path. */
export type Scenario =
  | 'honest'
  | 'guarded'
  | 'modern'
  | 'modern-only'
  | 'stateful'
  | 'streaming'
  | 'changing'
  | 'many'
  | 'swarm'
  | 'unusable'
  | 'heavy'
  | 'endless-pages'
  | 'fat-definition'
  | 'huge'
  | 'huge-stream'
  | 'never-ending'
  | 'cut'
  | 'reset'
  | 'bad-ids'
  | 'accepted-only'
  | 'malformed'
  | 'refusing'
  | 'redirect-call'
  | 'redirect'
  | 'sign-in'
  | 'silent'
  | 'failing'
  | 'not-mcp';

export interface ToolClaim {
  name: string;
  title?: string;
  description?: string;
  inputSchema: object;
  outputSchema?: object;
  annotations?: object;
}

export interface ReceivedCall {
  readonly scenario: Scenario;
  readonly name: string;
  readonly arguments: unknown;
  readonly headers: IncomingMessage['headers'];
  /** Path with its query. */
  readonly path: string;
}

/** State that a test sets and reads, for all scenarios that have none of their own. */
export interface HostileControl {
  /** The tools it claims to have. */
  tools: ToolClaim[];
  /** Result of a call: its text, or the whole result. */
  answer: (call: ReceivedCall) => string | object;
  /** Credential that `guarded` asks for. */
  credential: string;
  /** Delay before a call is answered. */
  delayMs: number;
  /** The method of requests whose connection is broken off, and how many times. */
  drops: { method: string; times: number } | undefined;
  /** A call is answered once this has resolved. */
  held: Promise<void> | undefined;
  /** Behaviour from now on, whatever the path says. */
  becomes: Scenario | undefined;
  /** Every `tools/call` that arrived. */
  readonly calls: ReceivedCall[];
  /** Method of every JSON-RPC message and every plain HTTP request that arrived. */
  readonly seen: string[];
  reset(): void;
}
