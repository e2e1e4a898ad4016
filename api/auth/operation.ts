import type { z } from 'zod';

/** An operation of the authentication library that we support. Validation and OpenAPI follow from it. */
export interface AuthOperation {
  readonly method: 'GET' | 'POST';
  /** Path below `/auth`. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** The fields of the response; others that the library sends stay behind. */
  readonly success?: z.ZodType;
  /** May respond with 302. */
  readonly redirects?: true;
  readonly needsSession?: true;
  /** Codes of its own errors by their status; those that follow from the declaration are derived. */
  readonly errors: Readonly<Record<number, readonly string[]>>;
}

/** Finds the operation of a path below `/auth`, and those of its other methods. */
export function findOperation(
  operations: readonly AuthOperation[],
  method: string,
  path: string,
): { operation: AuthOperation | undefined; methods: readonly string[] } {
  const there = operations.filter((operation) => operation.path === path);
  return {
    operation: there.find((operation) => operation.method === method),
    methods: there.map((operation) => operation.method),
  };
}
