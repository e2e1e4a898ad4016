import { LRUCache } from 'lru-cache';
import { serveJobs } from '#lib/bounded-thread.ts';
import { compileSchema, type SchemaCheck } from './compile-schema.ts';

/** A schema and a value as JSON text. Without a value, the schema is only compiled. */
export interface SchemaJob {
  readonly schema: string;
  readonly value: string | undefined;
}

export interface SchemaJobResult {
  /** The reason why the check could not be made. */
  readonly error: string | undefined;
  /** The fault of the value. */
  readonly issue: string | undefined;
}

const checks = new LRUCache<string, SchemaCheck>({
  max: 500,
  memoMethod: (schema) => compileSchema(JSON.parse(schema)),
});

serveJobs(({ schema, value }: SchemaJob): SchemaJobResult => {
  try {
    const check = checks.memo(schema);
    const issue = value === undefined ? undefined : check(JSON.parse(value));
    return { error: undefined, issue };
  } catch (error) {
    return { error: messageOf(error), issue: undefined };
  }
});

function messageOf(error: unknown): string {
  if (error instanceof RangeError) {
    return 'the schema refers to itself without end, or the value is nested too deeply';
  }
  return error instanceof Error ? error.message : 'unknown';
}
