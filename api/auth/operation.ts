import { z } from 'zod';
import { personId } from '../http/schemas.ts';
import { addressed, type Address, type Method } from '../route.ts';

/** A supported operation of the authentication library. Validation and OpenAPI follow from it. */
export interface AuthOperation {
  readonly method: Method;
  /** Path below `/auth`. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Fields of the response. Other fields of the library are removed. */
  readonly success?: z.ZodType;
  /** True when the operation may respond with 302. */
  readonly redirects?: true;
  readonly needsSession?: true;
  /** Codes of the operation's own errors, by status. Errors that follow from the declaration are added. */
  readonly errors: Readonly<Record<number, readonly string[]>>;
}

/** Declares an operation by its address below `/auth`. */
export function operation(address: Address, declared: Omit<AuthOperation, 'method' | 'path'>): AuthOperation {
  return { ...addressed(address), ...declared };
}

/** Finds the operation of a path below `/auth`, and the other methods of that path. */
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

/** An instant with milliseconds, as the library writes instants in JSON. */
const instant = z.iso.datetime({ precision: 3 });

export const user = z
  .object({
    id: personId,
    name: z.string(),
    email: z.string(),
    emailVerified: z.boolean(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'User' });

/** A session without its token, because a script in the page could use the token in place of the cookie. */
export const session = z
  .object({
    id: z.string(),
    userId: personId,
    createdAt: instant,
    updatedAt: instant,
    expiresAt: instant,
  })
  .meta({ id: 'PresentSession' });

export const done = z.object({ status: z.boolean() }).meta({ id: 'Done' });

/** A password to compare with the stored one. The present rules are not applied, because the password may be older. */
export const givenPassword = z.string().min(1).max(128).meta({ format: 'password' });
