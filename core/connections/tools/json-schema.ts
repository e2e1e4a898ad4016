import vm from 'node:vm';
import type { Ajv, AnySchema, ErrorObject, ValidateFunction } from 'ajv';
import { Ajv as AjvDraft7 } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { BoundedCache } from '#lib/bounded-cache.ts';
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
  const check = compiled(schema);
  const valid = runCheck(check, value);
  if (valid) return undefined;
  return (check.validate.errors ?? []).slice(0, 5).map(showError).join('; ') || 'not valid';
}

/** @throws {SchemaError} when a value could not be checked against the schema */
export function assertUsableSchema(schema: JsonObject): void {
  if (compiled(schema).tooSlow) throw new SchemaError(TOO_SLOW);
}

interface Check {
  readonly validate: ValidateFunction;
  /** A check of a small value is quick whatever the value, so it needs no limit on its time. */
  readonly quick: boolean;
  /** A check with it took too long, so there is no second one: it would hold everything else up as well. */
  tooSlow: boolean;
}

/** Schemas are compiled once: a few milliseconds each, and a run asks for the same ones again. */
const checks = new BoundedCache<string, Check>(500);

const TOO_SLOW = 'checks against it take too long';

/** Bounds what a schema's size does not; on a busy machine a first compilation takes a third of a second. */
const COMPILE_LIMIT_MS = 2_000;
/** A check takes well under a millisecond; the limit is on the clock, so it leaves room for a busy machine. */
const CHECK_LIMIT_MS = 1_000;

/** Of a schema and of a value, as JSON: without the keywords below, a check takes no more than the two multiplied. */
const SMALL = 10_000;

/**
 * The keywords by which a small schema can take for ever: regular expressions, comparisons of all with all, and
 * references, which multiply. A property of such a name is taken for the keyword, which costs time and no more.
 */
const UNBOUNDED =
  /"(?:pattern|patternProperties|format|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef)":/;

function compiled(schema: JsonObject): Check {
  return checks.get(keyOf(schema), (key) => ({
    validate: inTime(COMPILE_LIMIT_MS, () => compile(schema)),
    quick: key.length <= SMALL && !UNBOUNDED.test(key),
    tooSlow: false,
  }));
}

function keyOf(schema: JsonObject): string {
  try {
    return canonicalJson(schema);
  } catch (error) {
    if (error instanceof RangeError) throw new SchemaError(error.message);
    throw error;
  }
}

function runCheck(check: Check, value: unknown): boolean {
  if (check.tooSlow) throw new SchemaError(TOO_SLOW);
  try {
    // The limit costs a thread and a good part of a millisecond.
    if (check.quick && isSmall(value)) return check.validate(value);
    return inTime(CHECK_LIMIT_MS, () => check.validate(value));
  } catch (error) {
    check.tooSlow = true;
    throw error;
  }
}

function isSmall(value: unknown): boolean {
  try {
    return JSON.stringify(value).length <= SMALL;
  } catch {
    // Nested more deeply than the stack holds.
    return false;
  }
}

function compile(schema: JsonObject): ValidateFunction {
  // An asynchronous schema answers with a promise, which is true whatever it holds.
  if ('$async' in schema) throw new SchemaError('asynchronous schemas are not supported');
  // An instance each: in a shared one a schema could take the `$id` of another, or of the dialect itself.
  return instanceFor(schema['$schema']).compile(schema as AnySchema);
}

// References are not inlined: nested ones would multiply the code.
const OPTIONS = { strict: false, logger: false, inlineRefs: false } as const;

/** 2020-12 unless the schema says otherwise, as MCP has it; older dialects are read as draft 7. */
function instanceFor(dialect: unknown): Ajv {
  const old = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  const ajv = old ? new AjvDraft7(OPTIONS) : new Ajv2020(OPTIONS);
  formats.default(ajv);
  return ajv;
}

const slot = Symbol.for('ras.boundedWork');
const script = new vm.Script('globalThis[Symbol.for("ras.boundedWork")]()');
const ATTEMPTS = 3;

/**
 * Runs work on foreign schemas with a limit that holds even inside a regular expression: a pattern made to backtrack
 * for ever would otherwise stop the whole process. The limit is on the clock, so work that was hardly given a processor
 * meanwhile is done again.
 */
function inTime<T>(limitMs: number, work: () => T): T {
  const results: T[] = [];
  Reflect.set(globalThis, slot, () => {
    results.push(work());
  });
  try {
    const before = process.threadCpuUsage();
    for (let attempt = 1; ; attempt += 1) {
      try {
        script.runInThisContext({ timeout: limitMs });
        break;
      } catch (error) {
        const { user, system } = process.threadCpuUsage(before);
        const starved = isTimeout(error) && (user + system) / 1_000 < limitMs / 2;
        if (!starved || attempt === ATTEMPTS) throw error;
      }
    }
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

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function showError({ instancePath, message, params, keyword }: ErrorObject): string {
  const extra =
    keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return `${instancePath === '' ? 'arguments' : instancePath.slice(1).replaceAll('/', '.')} ${message ?? 'is not valid'}${extra}`;
}
