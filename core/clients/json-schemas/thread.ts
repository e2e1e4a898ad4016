import { LRUCache } from 'lru-cache';
import { serveJobs } from '#lib/bounded-thread.ts';
import { compileSchema, type SchemaCheck, type SchemaJob, type SchemaJobResult } from './compile.ts';
import { readLeniently } from './leave-out.ts';

const checks = new LRUCache<string, SchemaCheck>({
  max: 500,
  memoMethod: (schema) => compileSchema(JSON.parse(schema)),
});

serveJobs(({ schema, value, isLenient }: SchemaJob): SchemaJobResult => {
  try {
    if (isLenient === true) return { error: undefined, issue: undefined, read: readLeniently(JSON.parse(schema)) };
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
