import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BoundedThread, JobLimitError, ThreadBusyError } from '#lib/bounded-thread.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { mayBeExact } from '#lib/exact-json/parse.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';
import {
  compileSchema,
  type ReadableSchema,
  type SchemaCheck,
  type SchemaJob,
  type SchemaJobResult,
} from './compile.ts';
import { checkByNeighbours } from './long-numbers.ts';

/** A schema that cannot be used: it is not JSON Schema, refers elsewhere, is too large or takes too long. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** A check that is refused for now, because many other checks of the same project are waiting. */
export class SchemaBusyError extends SchemaError {}

/**
 * Checks a value against a JSON Schema that a stranger wrote.
 * @param projectId project of the check: slow checks of a project wait for each other
 * @returns the fault, or undefined when the value is valid
 * @throws {SchemaError}
 */
export async function schemaFault(projectId: string, schema: JsonObject, value: unknown): Promise<string | undefined> {
  const read = readSchema(projectId, schema);
  const text = toJson(() => JSON.stringify(value) ?? 'null');
  const isQuick = read.quick && isSmall(text);
  if (!mayBeExact(text)) return isQuick ? quickCheck(read, schema)(value) : checkInThread(read, text);
  return checkByNeighbours(text, read.json, async (json) =>
    isQuick ? quickCheck(read, schema)(JSON.parse(json)) : checkInThread(read, json),
  );
}

/** @throws {SchemaError} when a value could not be checked against the schema */
export async function assertUsableSchema(projectId: string, schema: JsonObject): Promise<void> {
  const read = readSchema(projectId, schema);
  if (verdicts.has(read.id)) return;
  if (read.quick) quickCheck(read, schema);
  else await checkInThread(read);
}

/**
 * Reads the schema of a tool server. Its users cannot correct the schema, so unreadable parts are left out and named.
 * @returns the same schema when all of it can be read
 * @throws {SchemaError} when nothing of it can be used: it is too large, or takes too long
 */
export async function readableSchema(projectId: string, schema: JsonObject): Promise<ReadableSchema> {
  try {
    await assertUsableSchema(projectId, schema);
    return { schema, leftOut: [] };
  } catch (error) {
    if (!(error instanceof SchemaError) || error instanceof SchemaBusyError || isTooLarge(schema)) throw error;
  }
  const job = { schema: toJson(() => canonicalJson(schema)), value: undefined, isLenient: true } as const;
  const { read, error = 'unknown' } = await thread.run(projectId, (ask) => ask(job, COMPILE_LIMIT_MS)).catch(tooSlow);
  if (read === undefined) throw new SchemaError(error.slice(0, 300));
  return read;
}

/**
 * Names the fault of a schema for a caller of the API.
 * @throws every error that is no `SchemaError`, unchanged
 */
export function schemaRefusal(error: unknown, path: string): AppError {
  if (error instanceof SchemaBusyError) {
    const headers = { 'Retry-After': '2' };
    return new AppError('rate_limited', 'Too many schemas of this project are waiting; try again later.', headers);
  }
  if (!(error instanceof SchemaError)) throw error;
  return invalid([{ path, message: `not a usable JSON Schema (${error.message})` }]);
}

/** Limits of computing time in the thread. Compiling and checking usually take milliseconds. */
const COMPILE_LIMIT_MS = 4_000;
const CHECK_LIMIT_MS = 500;

const thread = new BoundedThread<SchemaJob, SchemaJobResult>({
  entry: new URL('thread.ts', import.meta.url),
  maxHeapMb: 256,
});

/** Compiled checks of schemas that need no thread. */
const quickChecks = new LRUCache<string, SchemaCheck, JsonObject>({
  max: 500,
  memoMethod: (_id, _stale, { context: schema }) => compileSchema(schema),
});

interface Verdict {
  /** The reason why the schema cannot be used; undefined when it can. */
  readonly refusal: string | undefined;
}

/**
 * Verdicts by project and hash of the schema. Refusals are kept for a while too, so that a schema that takes too long
 * costs that time only once. Each project has its own verdicts, so a value of one project cannot make a schema unusable
 * for another.
 */
const verdicts = new LRUCache<string, Verdict>({ max: 5_000, ttl: 10 * 60_000 });

interface ReadSchema {
  readonly projectId: string;
  /** The project and a hash of the schema. */
  readonly id: string;
  readonly json: string;
  readonly quick: boolean;
}

function readSchema(projectId: string, schema: JsonObject): ReadSchema {
  if (isTooLarge(schema)) throw new SchemaError('it is too large');
  const json = toJson(() => canonicalJson(schema));
  const id = `${projectId} ${hash('sha256', json)}`;
  const refusal = verdicts.get(id)?.refusal;
  if (refusal !== undefined) throw new SchemaError(refusal);
  return { projectId, id, json, quick: isQuick(schema, json) };
}

/** @throws {SchemaError} when the value is nested too deeply for the stack */
function toJson(write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) throw new SchemaError(error.message);
    throw error;
  }
}

function quickCheck({ id, json }: ReadSchema, schema: JsonObject): SchemaCheck {
  try {
    // Limits in a server's schema may be numbers that no double represents; checks use the nearest double.
    const check = quickChecks.memo(id, { context: mayBeExact(json) ? JSON.parse(json) : schema });
    verdicts.set(id, { refusal: undefined });
    return check;
  } catch (error) {
    throw refuse(id, error instanceof Error ? error.message : 'unknown');
  }
}

async function checkInThread({ projectId, id, json: schema }: ReadSchema, value?: string): Promise<string | undefined> {
  const { error, issue } = await thread
    .run(projectId, async (ask) => {
      const compiled = await ask({ schema, value: undefined }, COMPILE_LIMIT_MS);
      const isAll = value === undefined || compiled.error !== undefined;
      return isAll ? compiled : ask({ schema, value }, CHECK_LIMIT_MS);
    })
    .catch(tooSlow);
  if (error !== undefined) throw refuse(id, error);
  verdicts.set(id, { refusal: undefined });
  return issue;
}

function tooSlow(error: unknown): SchemaJobResult {
  if (error instanceof ThreadBusyError) throw new SchemaBusyError('many other checks are waiting');
  if (!(error instanceof JobLimitError)) throw error;
  return { error: 'checks against it take too long', issue: undefined };
}

function refuse(id: string, why: string): SchemaError {
  const refusal = why.slice(0, 300);
  verdicts.set(id, { refusal });
  return new SchemaError(refusal);
}

/**
 * The most nodes of a schema. Within this limit a schema compiles in a second or two on a busy machine. The largest
 * public tools have some hundreds.
 */
const MAX_NODES = 2_000;

/**
 * The most nodes of a schema for a quick check. Within this limit a schema compiles in some 20 ms, even on a busy
 * machine.
 */
const QUICK_NODES = 60;
/**
 * Longest JSON of a schema and of a value for a quick check: its time is at most proportional to the product of both.
 */
const QUICK_LENGTH = 10_000;

/**
 * Keywords that can make even a small schema run for ever: regular expressions, comparisons of all items, and
 * references. A property with such a name counts too: its schema is checked in the thread, which is slower but safe.
 */
const UNBOUNDED = /"(?:pattern|patternProperties|format|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef)":/;

function isTooLarge(schema: JsonObject): boolean {
  return countNodes(schema, MAX_NODES + 1) > MAX_NODES;
}

function isQuick(schema: JsonObject, json: string): boolean {
  return isSmall(json) && !UNBOUNDED.test(json) && countNodes(schema, QUICK_NODES + 1) <= QUICK_NODES;
}

function isSmall(json: string): boolean {
  return json.length <= QUICK_LENGTH;
}

function countNodes(root: unknown, most: number): number {
  const waiting = [root];
  let nodes = 0;
  while (waiting.length > 0 && nodes < most) {
    const value = waiting.pop();
    if (typeof value === 'boolean') nodes += 1;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) nodes += 1;
    for (const member of Object.values(value)) waiting.push(member);
  }
  return nodes;
}
