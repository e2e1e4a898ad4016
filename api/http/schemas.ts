import { z } from 'zod';
import { idPattern, type Resource } from '#lib/ids.ts';
import { DEFAULT_PAGE_SIZE, decodeCursor, MAX_PAGE_SIZE, type Page } from '#lib/paging.ts';

/** Returns the schema of an id, as a path parameter or a field. */
export function idOf(resource: Resource, example: string) {
  return z
    .string()
    .regex(idPattern(resource))
    .meta({ description: `Id of the ${resource}.`, example });
}

export const EXAMPLE = {
  organization: 'org_01kx3k9y6wfd8r0v5m2c7t4q1z',
  project: 'prj_01kx3k9y6wfd8r0v5m2c7t4q2a',
  apiKey: 'key_01kx3k9y6wfd8r0v5m2c7t4q3b',
  routine: 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c',
  run: 'run_01kx3k9y6wfd8r0v5m2c7t4q5d',
  skill: 'skl_01kx3k9y6wfd8r0v5m2c7t4q6e',
  delivery: 'whd_01kx3k9y6wfd8r0v5m2c7t4q7f',
  connection: 'con_01kx3k9y6wfd8r0v5m2c7t4q8g',
  policy: 'pol_01kx3k9y6wfd8r0v5m2c7t4q9h',
  modelConnection: 'mcn_01kx3k9y6wfd8r0v5m2c7t4qaj',
  attempt: 'att_01kx3k9y6wfd8r0v5m2c7t4qbk',
  invitation: 'inv_01kx3k9y6wfd8r0v5m2c7t4q0j',
  auditEvent: 'aud_01kx3k9y6wfd8r0v5m2c7t4q1k',
  person: 'uQ4cVnY2bXk8sTq0LmZr7wHd3fJg5aEp',
} as const;

/** RFC 3339, UTC, milliseconds. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'RFC 3339, UTC.', example: '2026-11-21T09:00:00.000Z' });

/** An instant that a caller gives, in any offset. */
export const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .meta({ type: 'string', format: 'date-time', example: '2027-01-01T00:00:00Z' });

export function iso(date: Date): string {
  return date.toISOString();
}

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

const pageFields = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE)
    .meta({ description: `Items a page, at most ${MAX_PAGE_SIZE}.`, example: 50 }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'From the `Link: <…>; rel="next"` header of the page before.' }),
};

/** Returns the schema of a list's query, with the fields of its own filters. */
export function pageQuery<F extends z.core.$ZodShape>(filters: F) {
  return z.strictObject({ ...pageFields, ...filters });
}

/**
 * Returns the page that a query asks for of a list that is ordered by id, or by revision.
 * @throws {AppError} `invalid_request` when the cursor is not one of such a list
 */
export function pageOf(
  query: { limit: number; cursor?: string | undefined },
  of: Resource | 'revision',
): Page {
  return {
    limit: query.limit,
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, of),
  };
}

/** Returns the schema of a name that a person gives: one line with something to see; spaces around it are dropped. */
export function nameOf(max: number) {
  return z.string().min(1, EMPTY).max(max).regex(ONE_LINE, EMPTY).trim();
}

const EMPTY = 'must not be empty, nor hold control characters';

/** Names stand in mails and logs. Without a repetition inside another, so that it takes linear time. */
const ONE_LINE =
  // oxlint-disable-next-line no-control-regex -- they are what it is about
  /^\s*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/;

/** An e-mail address, as long as a mail server takes it (RFC 5321, section 4.5.3.1). */
export const emailAddress = z.email().max(254).meta({ example: 'grace@example.com' });

export const personId = z
  .string()
  .regex(/^[A-Za-z0-9]{1,64}$/)
  .meta({ description: 'Id of a person.', example: EXAMPLE.person });
