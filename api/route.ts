import type { z } from 'zod';
import type { ErrorCode } from '#lib/errors.ts';
import type { AccessOf, ActorOf, AuthKind, Scope } from './access.ts';
import type { Deps } from './deps.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Declaration of an operation, from which its validation, the check of its responses and OpenAPI are made. */
interface Declaration<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType<object> = z.ZodType<object>,
  B extends z.ZodType = z.ZodType,
  D extends z.ZodType = z.ZodType,
> {
  readonly id: string;
  /** Group in OpenAPI, if it differs from the group of the file's other operations. */
  readonly tag?: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Date of the deprecation and, once decided, of the end: days such as 2027-01-31. */
  readonly deprecated?: { readonly since: string; readonly sunset?: string };
  /** How the operation appears as a tool over MCP. Without it, no assistant may call the operation. */
  readonly mcp?: Tool;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** True when the body may be missing. It is then parsed as `{}`. */
  readonly bodyOptional?: boolean;
  /** Requires a proof of identity that is at most 15 minutes old; API keys are exempt. */
  readonly fresh?: true;
  /** Honours `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Fields that are null in a repeated response. */
  readonly shownOnce?: readonly string[];
  /** Honours `Prefer: wait` (RFC 7240). */
  readonly waits?: true;
  /** Honours `If-Match` and responds with `ETag`. An operation that may create honours `If-None-Match` too. */
  readonly conditional?: boolean | 'create';
  readonly success: {
    /** 200 by default. */
    readonly status?: 201 | 202;
    readonly data: D;
    readonly description: string;
    /** Headers of the response, with descriptions. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Path at which the data can be read, with names of its fields as parameters: `/v1/routines/:id`. */
    readonly location?: string;
    /** Responds with server-sent events; `data` is the shape of one of them. */
    readonly stream?: true;
  };
  /** The operation's own errors. Errors of path, authentication, limits and parsing are added. */
  readonly errors?: readonly ErrorCode[];
}

/** An operation with its address, and with how its callers are authenticated. */
export interface RouteSpec extends Omit<Declaration, 'success' | 'tag'> {
  readonly tag: Tag;
  readonly method: Method;
  /** Path in the form of the router: `/v1/routines/:routineId`. */
  readonly path: string;
  readonly auth: AuthKind;
  readonly scope?: Scope;
  readonly success: Omit<Declaration['success'], 'status'> & { readonly status: 200 | 201 | 202 };
}

/** Who may call. An operation with a scope is for API keys and people, unless it says otherwise. */
type Callers<A extends AuthKind> =
  | { readonly auth: A; readonly scope?: Scope }
  | { readonly auth?: never; readonly scope: Scope };

/** Groups of tools, which a client of `/mcp` selects: `?toolsets=routines,runs`. */
export const TOOLSETS = {
  models: 'default',
  skills: 'default',
  routines: 'default',
  runs: 'default',
  connections: 'default',
  results: 'default',
  authoring: 'on request',
  usage: 'on request',
  questions: 'on request',
  actions: 'on request',
} as const;

export type Toolset = keyof typeof TOOLSETS;

/** The tool of an operation; its name is the operation's id in snake_case. */
export interface Tool {
  readonly toolset: Toolset;
  /** Fields of the response, or of each list item, for assistants; all of them by default. */
  readonly view?: readonly string[];
  /** Last sentence of the tool's description. */
  readonly note?: string;
  /** True when the effect cannot be undone. */
  readonly destructive?: true;
}

export interface Input<A extends AuthKind, P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly access: AccessOf<A>;
  /** The caller, as audit events name actors. */
  readonly by: ActorOf<A>;
  readonly deps: Deps;
  readonly requestId: string;
  /** The `If-Match` header of a conditional route; undefined without the header. */
  readonly ifMatch: string | undefined;
  /** The `If-None-Match` header of a route that may create; undefined without the header. */
  readonly ifNoneMatch: string | undefined;
  /** The wait that the request prefers, if the route supports it. */
  readonly wait: Wait | undefined;
  /**
   * Gives the id of the one resource that this request creates. A retry under the same `Idempotency-Key` gets the same
   * id and finds the resource, if it was committed before the response was lost.
   */
  readonly newId: NewId;
}

/** Waits for `until`, but no longer than the caller wants. The signal aborts at the end of the wait. */
export type Wait = (until: (signal: AbortSignal) => Promise<void>) => Promise<void>;

export type NewId = (
  resource:
    | 'apiKey'
    | 'backfill'
    | 'chat'
    | 'ciTrust'
    | 'connection'
    | 'invitation'
    | 'organization'
    | 'project'
    | 'proposal'
    | 'routine'
    | 'run'
    | 'sharedLink'
    | 'skill'
    | 'toolRule',
) => string;

export interface Reply<D> {
  readonly data: D;
  readonly headers?: Readonly<Record<string, string>>;
  /** Start of the next page of a list; the pipeline writes it into the `Link` header. */
  readonly nextCursor?: string | undefined;
}

export interface JsonRoute {
  readonly spec: RouteSpec;
  readonly handle: (input: Input<AuthKind, unknown, unknown, unknown>) => Promise<Reply<unknown>>;
}

/** The last event that a follower has seen, and the signal that ends the stream. */
export interface StreamInput {
  /** The `Last-Event-ID` header, or empty. */
  readonly lastEventId: string;
  /** Aborts at the end of the stream. If the reason is a `StreamEnd`, it is sent to the caller. */
  readonly signal: AbortSignal;
}

/** A server-sent event, before its data is written as JSON. */
export interface SentEvent {
  readonly event: string;
  readonly id?: string;
  /** Milliseconds after which the caller should reconnect. */
  readonly retryMs?: number;
  readonly data: unknown;
}

export interface EventRoute {
  readonly spec: RouteSpec;
  /** Resolves with undefined when no event can follow. The response is then 204, so that browsers do not reconnect. */
  readonly stream: (
    input: Input<AuthKind, unknown, unknown, unknown> & StreamInput,
  ) => Promise<AsyncIterable<SentEvent> | undefined>;
}

export type Route = JsonRoute | EventRoute;

/**
 * Returns a function that declares operations of a tag. The handler of an operation is given in a second call, so that
 * TypeScript keeps the literal types of the first.
 *
 * @example const route = routesOf('Skills'); export const readSkill = route('GET /v1/skills/:skillId', { … }) .to(async
 * ({ access, params, deps }) => ({ data: present(skill, await …) }));
 */
export function routesOf(tag: Tag) {
  return <
    A extends AuthKind = 'key-or-session',
    P extends z.ZodType = z.ZodType<Record<string, never>>,
    Q extends z.ZodType<object> = z.ZodType<Record<string, never>>,
    B extends z.ZodType = z.ZodType<Record<string, never>>,
    D extends z.ZodType = z.ZodType,
  >(
    address: Address,
    declared: Declaration<P, Q, B, D> & Callers<A>,
  ) => {
    const spec = specOf(address, { tag, ...declared });
    return {
      to(handle: (input: Input<A, z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply<z.input<D>>>): Route {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pipeline parses with the schemas that the handler's types come from
        return { spec, handle: handle as unknown as JsonRoute['handle'] };
      },
    };
  };
}

/** Declares an operation that responds with server-sent events, as `route` does for JSON. */
export function eventRoute<
  A extends AuthKind = 'key-or-session',
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  D extends z.ZodType<SentEvent> = z.ZodType<SentEvent>,
>(
  address: Address,
  declared: Declaration<P, z.ZodType<object>, z.ZodType, D> &
    Callers<A> &
    Tagged & { readonly success: { readonly stream: true } },
) {
  const spec = specOf(address, declared);
  return {
    to(
      stream: (
        input: Input<A, z.output<P>, unknown, unknown> & StreamInput,
      ) => Promise<AsyncIterable<z.input<D>> | undefined>,
    ): Route {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `route`
      return { spec, stream: stream as unknown as EventRoute['stream'] };
    },
  };
}

/** Method and path of an operation. */
export type Address = `${Method} /${string}`;

export function addressed(address: Address): { method: Method; path: string } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of the address says so
  const [method, path] = address.split(' ') as [Method, string];
  return { method, path };
}

interface Tagged {
  readonly tag: Tag;
}

function specOf(address: Address, { success, ...declared }: Declaration & Callers<AuthKind> & Tagged): RouteSpec {
  return { auth: 'key-or-session', ...declared, ...addressed(address), success: { status: 200, ...success } };
}

/** The groups of operations in OpenAPI, in the order of the documentation. */
export const TAGS = {
  Routines: 'Recurring work: instructions, a schedule, a model.',
  Runs: 'Executions of routines, step by step.',
  Actions: 'Calls of tools that wait for a person.',
  Results: 'What runs have brought, and what of it is new.',
  Schedules: 'Times that schedules have.',
  Skills: 'Reusable instructions, curated and your own.',
  Tools: 'What a routine may call, each tool off until a person confirms it.',
  Connections: 'Access to tool servers and managed providers.',
  Models: 'The models that routines can run on.',
  'Model accounts': 'Personal accounts at connected model providers, for routines to run on.',
  'Organizations and projects': 'Who works where. An API key reads its own project.',
  Members: 'Who belongs to an organization, and who is invited. Sessions only.',
  Audit: 'Who changed what. Sessions only.',
  Accounts: 'Signing up and in, with e-mail address and password.',
  Sessions: 'Where you are signed in. Sessions only.',
  'API keys': 'Access for automation. Sessions only.',
  Assistants: 'Programs that people have connected by OAuth, for `/mcp`. Sessions only.',
  Billing: 'What an organization pays for and may use. Sessions only.',
  Operations: 'For those who run the service.',
} as const;

export type Tag = keyof typeof TAGS;
