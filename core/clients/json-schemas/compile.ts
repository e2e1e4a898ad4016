import { Ajv as AjvDraft7, type Ajv, type CodeOptions, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '#lib/json.ts';
import { compilePattern, patternFault } from '#lib/linear-pattern.ts';

/** Describes the fault of a value; undefined when it is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** A schema and a value as JSON text, for the thread. Without a value, the schema is only compiled. */
export interface SchemaJob {
  readonly schema: string;
  readonly value: string | undefined;
  /** True to read the schema keyword by keyword and leave out unreadable parts, instead of compiling it whole. */
  readonly isLenient?: true;
}

export interface SchemaJobResult {
  /** The reason why the check could not be made. */
  readonly error: string | undefined;
  readonly issue: string | undefined;
  /** The readable part of the schema. */
  readonly read?: ReadableSchema;
}

export interface ReadableSchema {
  readonly schema: JsonObject;
  readonly leftOut: readonly LeftOutPart[];
}

/** A keyword that is left out of the check because it cannot be read. */
export interface LeftOutPart {
  /** Place in dotted form, like `properties.year.pattern`. */
  readonly place: string;
  readonly reason: string;
}

/** @throws {Error} when the schema is not JSON Schema or refers elsewhere */
export function compileSchema(schema: Readonly<Record<string, unknown>>): SchemaCheck {
  // Refuse an asynchronous schema: it answers with a promise, which would pass as true for every value.
  if ('$async' in schema) throw new Error('asynchronous schemas are not supported');
  const { Dialect, meta } = dialectOf(schema['$schema']);
  void meta.validateSchema(schema, true);
  // Make a new instance each time: in a shared instance a schema could take the `$id` of another schema, or of the
  // dialect itself.
  const ajv = formats.default(new Dialect({ ...OPTIONS, validateSchema: false }));
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return undefined;
    return (validate.errors ?? []).slice(0, 5).map(showError).join('; ') || 'not valid';
  };
}

/** Explains why a keyword cannot be read; undefined when it can. The rest of the schema is not considered. */
export function keywordFault(
  dialect: unknown,
  { keyword, value, type }: { readonly keyword: string; readonly value: unknown; readonly type?: unknown },
): string | undefined {
  if (keyword === '$schema') {
    return typeof value === 'string' && KNOWN_DIALECTS.test(value)
      ? undefined
      : 'the service does not know this dialect';
  }
  if (keyword === '$async') return 'asynchronous schemas are not supported';
  if (keyword === 'id' && typeof value === 'string') return 'its name is $id';
  if (keyword === 'nullable' && type === undefined) return 'it stands without a type';
  if (keyword === 'enum' && Array.isArray(value) && value.length === 0) return 'it has no values';
  if (keyword === 'pattern' && typeof value === 'string') return patternFault(value);
  const { meta } = dialectOf(dialect);
  return meta.validateSchema({ [keyword]: value }) === true ? undefined : (meta.errors?.[0]?.message ?? 'not valid');
}

const KNOWN_DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft-07\/schema#?|draft\/2020-12\/schema#?)$/;

type RegExpEngine = NonNullable<CodeOptions['regExp']>;

/**
 * Ajv's engine for `pattern` and `patternProperties`. `code` is the name that Ajv wants for the engine in generated
 * code.
 */
const linearPattern: RegExpEngine = Object.assign((pattern: string, flags: string) => compilePattern(pattern, flags), {
  code: 'linearPattern',
});

const OPTIONS = {
  strict: false,
  logger: false,
  // A property called `constructor` counts only if the value itself has it, because every object inherits one.
  ownProperties: true,
  // Do not inline nested references, which would multiply the code.
  inlineRefs: false,
  // Leave Ajv's optimizer off: it takes three quarters of the compiling time, too much for checks that run a few times.
  code: { optimize: false, regExp: linearPattern },
} as const;

interface DialectSupport {
  readonly Dialect: new (options: typeof OPTIONS & { validateSchema?: boolean }) => Ajv;
  /**
   * Checks schemas against the dialect's own schema. The instance is shared, because compiling a dialect's own schema
   * takes longer than compiling most schemas.
   */
  readonly meta: Ajv;
}

const DRAFT_7 = supportFor(AjvDraft7);
const DRAFT_2020 = supportFor(Ajv2020);

/**
 * Returns the support for a dialect: draft 7 for draft 7 and older, otherwise 2020-12, the dialect that MCP assumes if
 * a schema names none.
 */
function dialectOf(name: unknown): DialectSupport {
  return typeof name === 'string' && /draft-0[4-7]/.test(name) ? DRAFT_7 : DRAFT_2020;
}

function supportFor(Dialect: DialectSupport['Dialect']): DialectSupport {
  return { Dialect, meta: formats.default(new Dialect(OPTIONS)) };
}

function showError({ instancePath, message, params, keyword }: ErrorObject): string {
  const extra = keyword === 'additionalProperties' ? ` (${String(params['additionalProperty'])})` : '';
  return `${instancePath === '' ? 'the value' : instancePath.slice(1).replaceAll('/', '.')} ${message ?? 'is not valid'}${extra}`;
}
