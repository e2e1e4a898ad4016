import { z } from 'zod';
import { personId } from '../http/schemas.ts';

/** The library writes instants as JSON does. */
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

/** A session without its token: a script of the page that could read the token would not need the cookie. */
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

/** A password that is only compared; one that was set under older rules still has to fit. */
export const givenPassword = z.string().min(1).max(128).meta({ format: 'password' });
