import { z } from 'zod';
import { emailAddress as anyEmailAddress } from '#lib/email-address.ts';
import { idPattern, type Resource } from '#lib/ids.ts';
import { cursorPattern, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Order, type Page } from '#lib/paging.ts';

const OURS = z.registry<{ readonly takes: (text: string) => boolean }>();

/**
 * Marks a text of a response as the service's own: its form leaves no room for other words. All other texts are
 * foreign, and an assistant gets them in a fence.
 */
function ours<S extends z.ZodString>(schema: S, takes = (text: string) => schema.safeParse(text).success): S {
  OURS.add(schema, { takes });
  return schema;
}

/** Tells whether a text is the service's own by its schema: an id, a word of a closed list, a number or a time. */
export function isOurs(schema: z.core.$ZodType, text: string): boolean {
  const isClosed =
    schema instanceof z.ZodEnum ||
    schema instanceof z.ZodLiteral ||
    schema instanceof z.ZodISODateTime ||
    schema instanceof z.ZodISODate;
  return isClosed ? schema.safeParse(text).success : (OURS.get(schema)?.takes(text) ?? false);
}

/** Returns the schema of a word from a list. Other words are valid too: a newer release may have written them. */
export function wordOf(list: Readonly<Record<string, unknown>> | readonly string[]) {
  const words = new Set(Array.isArray(list) ? list : Object.keys(list));
  return ours(z.string(), (word) => words.has(word));
}

/** US dollars as a decimal string. */
export const dollars = ours(z.string().regex(/^-?\d{1,20}(?:\.\d{1,30})?$/));

export const sha256 = ours(z.string().regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits'));

export const anyId = ours(z.string().regex(/^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$/));

/** Returns the schema of an id, as a path parameter or a field. */
export function idOf(resource: Resource & keyof typeof EXAMPLE) {
  return ours(z.string().regex(idPattern(resource))).meta({
    description: `Id of the ${resource}.`,
    example: EXAMPLE[resource],
  });
}

/** Lists the words of a closed list, each with its meaning in parentheses. */
export function meaningsOf(list: Readonly<Record<string, string>>): string {
  const words = Object.entries(list).map(([word, meaning]) => `\`${word}\` (${meaning})`);
  return words.join(', ');
}

/** Explains each word of a closed list in a sentence. */
export function sentencesOf(list: Readonly<Record<string, string>>): string {
  const words = Object.entries(list).map(([word, meaning]) => `\`${word}\`: ${meaning}.`);
  return words.join(' ');
}

/** Returns the strict schema of an object that the API document shows under a name. */
export function component<S extends z.core.$ZodLooseShape>(id: string, shape: S, about: z.GlobalMeta = {}) {
  return z.strictObject(shape).meta({ id, ...about });
}

export const EXAMPLE = {
  organization: 'org_01kx3k9y6wfd8r0v5m2c7t4q1z',
  project: 'prj_01kx3k9y6wfd8r0v5m2c7t4q2a',
  apiKey: 'key_01kx3k9y6wfd8r0v5m2c7t4q3b',
  ciTrust: 'cit_01kx3k9y6wfd8r0v5m2c7t4q3c',
  routine: 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c',
  proposal: 'prp_01kx3k9y6wfd8r0v5m2c7t4q4d',
  run: 'run_01kx3k9y6wfd8r0v5m2c7t4q5d',
  action: 'act_01kx3k9y6wfd8r0v5m2c7t4q5e',
  toolRule: 'tru_01kx3k9y6wfd8r0v5m2c7t4q9j',
  backfill: 'bkf_01kx3k9y6wfd8r0v5m2c7t4q2k',
  skill: 'skl_01kx3k9y6wfd8r0v5m2c7t4q6e',
  delivery: 'whd_01kx3k9y6wfd8r0v5m2c7t4q7f',
  chat: 'cht_01kx3k9y6wfd8r0v5m2c7t4q7g',
  chatDelivery: 'chd_01kx3k9y6wfd8r0v5m2c7t4q7h',
  sharedLink: 'lnk_01kx3k9y6wfd8r0v5m2c7t4q7k',
  question: 'qst_01kx3k9y6wfd8r0v5m2c7t4q7j',
  connection: 'con_01kx3k9y6wfd8r0v5m2c7t4q8g',
  policy: 'pol_01kx3k9y6wfd8r0v5m2c7t4q9h',
  modelConnection: 'mcn_01kx3k9y6wfd8r0v5m2c7t4qaj',
  attempt: 'att_01kx3k9y6wfd8r0v5m2c7t4qbk',
  invitation: 'inv_01kx3k9y6wfd8r0v5m2c7t4q0j',
  auditEvent: 'aud_01kx3k9y6wfd8r0v5m2c7t4q1k',
  person: 'uQ4cVnY2bXk8sTq0LmZr7wHd3fJg5aEp',
} as const;

export function iso(date: Date): string {
  return date.toISOString();
}

/** Returns the schema of a whole number in a path or query: decimal digits only. */
export function decimal(min: number, max: number) {
  return z.preprocess(readDecimal, z.number().int().min(min).max(max));
}

function readDecimal(value: unknown): unknown {
  return typeof value === 'string' && /^(?:0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
}

/** Returns the schema of a list's query: the page in the given order, and the filters of the list. */
export function pageQuery<F extends z.core.$ZodShape>(of: Order, filters: F) {
  return z.strictObject({
    limit: decimal(1, MAX_PAGE_SIZE)
      .default(DEFAULT_PAGE_SIZE)
      .meta({ description: `Items a page, at most ${MAX_PAGE_SIZE}.`, example: 50 }),
    cursor: z
      .string()
      .regex(cursorPattern(of), 'not a cursor of this list')
      .optional()
      .describe('The cursor from the `Link: <…>; rel="next"` header of the previous page.'),
    ...filters,
  });
}

/** Returns the schema of the text to search a list for. */
export function searchedIn(where: string) {
  return (
    z
      .string()
      .min(1)
      .max(200)
      // oxlint-disable-next-line no-control-regex -- Postgres takes no NUL
      .regex(/^[^\u0000]*[^\s\u0000][^\u0000]*$/, 'must not be empty')
      .trim()
      .optional()
      .describe(`Text in ${where}.`)
  );
}

/** Returns the page that a query asks for. */
export function pageOf(query: { limit: number; cursor?: string | undefined }): Page {
  return { limit: query.limit, after: query.cursor };
}

/** An e-mail address. An international domain is accepted in both forms and stored in its DNS form. */
export const emailAddress = anyEmailAddress.meta({ example: 'grace@example.com' });

export const personId = z
  .string()
  .regex(/^[A-Za-z0-9]{1,64}$/)
  .meta({ description: 'Id of a person.', example: EXAMPLE.person });

/**
 * Parameters with which an authorization server sends a browser back (RFC 6749, section 4.1.2). Servers add others,
 * which are ignored, so the schema with these parameters must not be strict.
 */
export const returnedFields = {
  state: z.string().min(1).max(200).describe('The `state` that the service sent to the provider.'),
  code: z.string().min(1).max(4_096).optional().describe('The authorization code, where access was granted.'),
  error: z.string().min(1).max(200).optional().meta({ description: 'Why access failed.', example: 'access_denied' }),
  iss: z.string().min(1).max(2_048).optional().describe('The authorization server that responds (RFC 9207).'),
};
