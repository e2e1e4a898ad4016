import type { z } from 'zod';
import type { ErrorCode } from '#lib/errors.ts';
import type { AccessOf, AuthKind, Scope } from './access.ts';
import type { Deps } from './deps.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Everything that is true of an operation: validation, authorization, the response check and OpenAPI come from it. */
export interface RouteSpec<
  A extends AuthKind = AuthKind,
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  D extends z.ZodType = z.ZodType,
> {
  readonly method: Method;
  /** In router form: `/v1/routines/:routineId`. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: A;
  readonly scope?: Scope;
  /** What a malformed path parameter answers: it cannot exist, so it is not found. */
  readonly params?: P;
  readonly notFound?: ErrorCode;
  readonly query?: Q;
  readonly body?: B;
  /** The body may be left out altogether; it is then parsed as `{}`. */
  readonly bodyOptional?: boolean;
  /** Honours `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Honours `If-Match` and answers with `ETag`. */
  readonly conditional?: boolean;
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly data: D;
    readonly description: string;
    /** Header name → what it holds. */
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** The errors of this operation itself; those of authentication, limits and parsing are derived. */
  readonly errors: readonly ErrorCode[];
}

export interface Input<A extends AuthKind, P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly access: AccessOf<A>;
  readonly deps: Deps;
  readonly requestId: string;
  /** The path of this request, for links to the next page. */
  readonly path: string;
  /** The version named by `If-Match`, when the route is conditional and the header is there. */
  readonly ifMatch: string | undefined;
  /**
   * The id for the one resource this request creates. A retry under the same `Idempotency-Key` gets the same id,
   * so that a create which was committed but not answered is found again and not doubled.
   */
  readonly newId: NewId;
}

export type NewId = (resource: 'apiKey' | 'connection' | 'routine' | 'run' | 'skill') => string;

export interface Reply<D> {
  readonly data: D;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  readonly spec: RouteSpec;
  readonly handle: (input: Input<AuthKind, unknown, unknown, unknown>) => Promise<Reply<unknown>>;
}

/**
 * Declares one operation; the handler comes in a second call, so that TypeScript keeps the literal types of the first.
 *
 * @example
 * export const readSkill = route({ method: 'GET', path: '/v1/skills/:skillId', … })
 *   .to(async ({ access, params, deps }) => ({ data: presentSkill(await …) }));
 */
export function route<
  A extends AuthKind,
  P extends z.ZodType = z.ZodType<Record<string, never>>,
  Q extends z.ZodType = z.ZodType<Record<string, never>>,
  B extends z.ZodType = z.ZodType<Record<string, never>>,
  D extends z.ZodType = z.ZodType,
>(spec: RouteSpec<A, P, Q, B, D>) {
  return {
    to(
      handle: (
        input: Input<A, z.output<P>, z.output<Q>, z.output<B>>,
      ) => Promise<Reply<z.input<D>>>,
    ): Route {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pipeline parses with the schemas that the handler's types come from
      return { spec, handle: handle as unknown as Route['handle'] };
    },
  };
}
