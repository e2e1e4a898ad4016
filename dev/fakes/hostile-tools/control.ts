import type { IncomingMessage } from 'node:http';

/** Names a behaviour of the tool server. The name is the first part of its path. */
export type Scenario =
  | 'honest'
  | 'guarded'
  | 'modern'
  | 'modern-only'
  | 'stateful'
  | 'streaming'
  | 'announcing'
  | 'changing'
  | 'many'
  | 'swarm'
  | 'numbers'
  | 'numbers-stream'
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

/** State that a test sets and reads. Scenarios with their own state ignore it. */
export interface HostileControl {
  /** Tools that the server claims to have. */
  tools: ToolClaim[];
  /** Result of a call: its text, or the whole result. */
  answer: (call: ReceivedCall) => string | object;
  /** Credential that the scenario `guarded` requires. */
  credential: string;
  /** Delay before the response to a call. */
  delayMs: number;
  /** The server cuts the connection of this number of requests with this method. */
  drops: { method: string; times: number } | undefined;
  /** The response to a call waits until this resolves. */
  held: Promise<void> | undefined;
  /** Behaviour from now on, at every path. */
  becomes: Scenario | undefined;
  /** Every `tools/call` received. */
  readonly calls: ReceivedCall[];
  /** Method of every received JSON-RPC message and every plain HTTP request. */
  readonly seen: string[];
  reset(): void;
}
