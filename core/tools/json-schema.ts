import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BoundedThread, JobLimitError } from '#lib/bounded-thread.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';
import { compileSchema, type SchemaCheck } from './compile-schema.ts';
import { isQuick, isSmall, isTooLarge } from './schema-limits.ts';
import type { SchemaJob, SchemaJobResult } from './schema-thread.ts';

/** A schema that cannot be used: it is not JSON Schema, refers elsewhere, is too large or takes too long. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/**
 * Checks a value against a JSON Schema that somebody else wrote.
 * @returns what is wrong, or undefined when the value is valid
 * @throws {SchemaError}
 */
export async function schemaFault(schema: JsonObject, value: unknown): Promise<string | undefined> {
  const read = readSchema(schema);
  const text = toJson(() => JSON.stringify(value) ?? 'null');
  return read.quick && isSmall(text) ? quickCheck(read, schema)(value) : checkInThread(read, text);
}

/** @throws {SchemaError} when a value could not be checked against the schema */
export async function assertUsableSchema(schema: JsonObject): Promise<void> {
  const read = readSchema(schema);
  if (verdicts.has(read.id)) return;
  if (read.quick) quickCheck(read, schema);
  else await checkInThread(read);
}

/**
 * Compiling and checking together: both take milliseconds, but the limit is on the clock of what may be a busy machine.
 */
const LIMIT_MS = 4_000;

const thread = new BoundedThread<SchemaJob, SchemaJobResult>({
  entry: new URL('schema-thread.ts', import.meta.url),
  limitMs: LIMIT_MS,
  maxHeapMb: 256,
});

/** The checks that need no thread. */
const quickChecks = new LRUCache<string, SchemaCheck, JsonObject>({
  max: 500,
  memoMethod: (_id, _stale, { context: schema }) => compileSchema(schema),
});

interface Verdict {
  /** The reason why the schema cannot be used; undefined when it can. */
  readonly refusal: string | undefined;
}

/**
 * Verdicts by the hash of the schema. A refusal is kept too, so that its time is spent once, and expires after a while.
 */
const verdicts = new LRUCache<string, Verdict>({ max: 5_000, ttl: 10 * 60_000 });

interface ReadSchema {
  /** A hash of the schema. */
  readonly id: string;
  readonly json: string;
  readonly quick: boolean;
}

/** @throws {SchemaError} when the schema is too large, or was refused before */
function readSchema(schema: JsonObject): ReadSchema {
  if (isTooLarge(schema)) throw new SchemaError('it is too large');
  const json = toJson(() => canonicalJson(schema));
  const id = hash('sha256', json);
  const refusal = verdicts.get(id)?.refusal;
  if (refusal !== undefined) throw new SchemaError(refusal);
  return { id, json, quick: isQuick(schema, json) };
}

/** @throws {SchemaError} when the value is nested more deeply than the stack holds */
function toJson(write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) throw new SchemaError(error.message);
    throw error;
  }
}

function quickCheck({ id }: ReadSchema, schema: JsonObject): SchemaCheck {
  try {
    const check = quickChecks.memo(id, { context: schema });
    verdicts.set(id, { refusal: undefined });
    return check;
  } catch (error) {
    throw refuse(id, error instanceof Error ? error.message : 'unknown');
  }
}

async function checkInThread(
  { id, json }: ReadSchema,
  value?: string,
): Promise<string | undefined> {
  const { error, issue } = await thread.run({ schema: json, value }).catch(tooSlow);
  if (error !== undefined) throw refuse(id, error);
  verdicts.set(id, { refusal: undefined });
  return issue;
}

function tooSlow(error: unknown): SchemaJobResult {
  if (!(error instanceof JobLimitError)) throw error;
  return { error: 'checks against it take too long', issue: undefined };
}

function refuse(id: string, why: string): SchemaError {
  const refusal = why.slice(0, 300);
  verdicts.set(id, { refusal });
  return new SchemaError(refusal);
}
