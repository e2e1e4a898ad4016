import { z } from 'zod';

/**
 * Parameters that an authorization server sends a browser back with (RFC 6749, section 4.1.2). Servers add some of
 * their own, which mean nothing to us, so these go into a schema that is not strict.
 */
export const returnedFields = {
  state: z.string().min(1).max(200).meta({ description: 'Ours, handed back.' }),
  code: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .meta({ description: 'The authorization code, where access was granted.' }),
  error: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Why it was not.', example: 'access_denied' }),
  iss: z
    .string()
    .min(1)
    .max(2_048)
    .optional()
    .meta({ description: 'The authorization server that responds (RFC 9207).' }),
};
