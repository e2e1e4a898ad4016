import vm from 'node:vm';
import type { Ajv, AnySchema, ErrorObject, ValidateFunction } from 'ajv';
import { Ajv as AjvDraft7 } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { canonicalJson } from './definition.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A schema that cannot be used: it is not JSON Schema, refers elsewhere, or takes too long. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/**
 * Checks a value against a JSON Schema that somebody else wrote.
 * @returns what is wrong, or undefined when the value is valid
 * @throws {SchemaError}
 */
export function schemaFault(schema: JsonObject, value: unknown): string | undefined {
  const validate = compiled(schema);
  const valid = inTime(() => validate(value));
  if (valid) return undefined;
  return (validate.errors ?? []).slice(0, 5).map(showError).join('; ') || 'not valid';
}

/** @throws {SchemaError} when the schema could not be checked against */
export function assertUsableSchema(schema: JsonObject): void {
  compiled(schema);
}

/** Schemas are compiled once: a few milliseconds each, and a run asks for the same ones again. */
const cache = new Map<string, ValidateFunction>();
const CACHE_SIZE = 500;

function compiled(schema: JsonObject): ValidateFunction {
  const key = canonicalJson(schema);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const validate = inTime(() => compile(schema));
  const oldest = cache.size >= CACHE_SIZE ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  cache.set(key, validate);
  return validate;
}

function compile(schema: JsonObject): ValidateFunction {
  // An asynchronous schema answers with a promise, which is true whatever it holds.
  if ('$async' in schema) throw new SchemaError('asynchronous schemas are not supported');
  // An instance each: in a shared one a schema could take the `$id` of another, or of the dialect itself.
  return instanceFor(schema['$schema']).compile(schema as AnySchema);
}

const OPTIONS = { strict: false, logger: false, validateFormats: true } as const;

/** 2020-12 unless the schema says otherwise, as MCP has it; older dialects are read as draft 7. */
function instanceFor(dialect: unknown): Ajv {
  const old = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const ajv = old ? new AjvDraft7(OPTIONS) : new Ajv2020(OPTIONS);
  formats.default(ajv);
  return ajv;
}

const TIME_LIMIT_MS = 250;
const slot = Symbol.for('ras.boundedWork');
const script = new vm.Script('globalThis[Symbol.for("ras.boundedWork")]()');

/**
 * Runs work on foreign schemas with a limit that holds even inside a regular expression: a pattern made to backtrack
 * for ever would otherwise stop the whole process.
 */
function inTime<T>(work: () => T): T {
  const results: T[] = [];
  Reflect.set(globalThis, slot, () => {
    results.push(work());
  });
  try {
    script.runInThisContext({ timeout: TIME_LIMIT_MS });
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    throw new SchemaError(error instanceof Error ? error.message.slice(0, 200) : 'unknown');
  } finally {
    Reflect.deleteProperty(globalThis, slot);
  }
  const [result] = results;
  if (result === undefined) throw new SchemaError('no result');
  return result;
}

function showError({ instancePath, message, params, keyword }: ErrorObject): string {
  const extra =
    keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return `${instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.')} ${message ?? 'is not valid'}${extra}`;
}
