import type { z } from 'zod';
import { invalid, type ErrorCode, type Fault } from '#lib/errors.ts';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { showPath } from './body.ts';

/**
 * Parses a value and reports every fault. A check may name a more exact code than `invalid_request` in `params.code`;
 * the first such code is used.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: plainWords, reportInput: true });
  if (parsed.success) return parsed.data;
  const faults = once(parsed.error.issues.flatMap(faultsOf));
  const code = parsed.error.issues.map(codeOf).find((found) => found !== undefined);
  throw invalid(faults, code);
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({
      path: showPath([...issue.path, key.slice(0, 100)]),
      message: 'unknown field',
    }));
  }
  const message = issue.code === 'invalid_type' && issue.input == null ? 'required' : issue.message;
  return [{ path: showPath(issue.path), message }];
}

function once(faults: readonly Fault[]): Fault[] {
  const empty = new Map(faults.filter(({ message }) => message === EMPTY).map((each) => [each.path, each]));
  return faults.filter((each) => (empty.get(each.path) ?? each) === each);
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only our own checks set this, with a code of the closed list
  return issue.code === 'custom' ? (issue.params?.['code'] as ErrorCode | undefined) : undefined;
}

/**
 * Describes a fault for people, who read the text next to the field of a form. Undefined leaves the words to the
 * library.
 */
function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'too_small':
      return limit(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more' : 'least');
    case 'too_big':
      return limit(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less' : 'most');
    case 'invalid_type':
      return `expected ${named(issue.expected)}${received(issue.input)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? idForm(String(issue.pattern));
    case 'invalid_value':
      return issue.values.length > 20 ? undefined : `must be one of ${issue.values.join(', ')}`;
    default:
      return undefined;
  }
}

const EMPTY = 'must not be empty';

function received(input: unknown): string {
  if (typeof input === 'number' && Number.isNaN(input)) return '';
  if (input instanceof ExactNumber) return ', got a number of too many digits';
  return `, got ${named(Array.isArray(input) ? 'array' : typeof input)}`;
}

/** Returns the name of a JSON type with its article. `record` and `int` are words of the schema library. */
function named(type: string): string {
  const name = { record: 'object', int: 'whole number' }[type] ?? type;
  return /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
}

type Bound = 'least' | 'most' | 'more' | 'less';

function limit(origin: string, value: number, bound: Bound): string | undefined {
  const unit = UNITS[origin];
  if (unit === undefined) return NUMBERS.has(origin) ? `must be ${BOUNDS[bound]} ${value}` : undefined;
  if (bound === 'least' && value === 1) return EMPTY;
  return `must have ${BOUNDS[bound]} ${value} ${unit}${value === 1 ? '' : 's'}`;
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };
const NUMBERS: ReadonlySet<string> = new Set(['number', 'int', 'bigint']);

const BOUNDS: Readonly<Record<Bound, string>> = {
  least: 'at least',
  most: 'at most',
  more: 'more than',
  less: 'less than',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  datetime: 'must be a time like 2027-01-01T00:00:00Z',
  date: 'must be a date like 2027-01-31',
};

/** Describes the form of an id instead of its pattern; undefined for other patterns. */
function idForm(pattern: string): string | undefined {
  const [, prefix] = /\^([a-z]{3})_\[0-7\]/.exec(pattern) ?? [];
  return prefix && `must be an id: ${prefix}_ and 26 characters`;
}

/** Error for a path parameter whose resource does not exist. */
const NOT_FOUND: Readonly<Record<string, ErrorCode>> = {
  actionId: 'action_not_found',
  apiKeyId: 'api_key_not_found',
  ciTrustId: 'ci_trust_not_found',
  assistantId: 'assistant_not_found',
  attemptId: 'attempt_not_found',
  connectionId: 'connection_not_found',
  chatId: 'chat_not_found',
  deliveryId: 'delivery_not_found',
  externalKey: 'invalid_request',
  factsVersion: 'facts_version_not_found',
  linkId: 'link_not_found',
  invitationId: 'invitation_not_found',
  organizationId: 'organization_not_found',
  policyId: 'policy_not_found',
  projectId: 'project_not_found',
  proposalId: 'proposal_not_found',
  provider: 'provider_not_found',
  questionId: 'question_not_found',
  revision: 'version_not_found',
  routineId: 'routine_not_found',
  ruleId: 'tool_rule_not_found',
  runId: 'run_not_found',
  sessionId: 'session_not_found',
  skillId: 'skill_not_found',
  userCode: 'attempt_not_found',
  userId: 'member_not_found',
};

/**
 * Returns the not-found error of each parameter of a path in router form. A malformed id cannot exist, so it is not
 * found.
 */
export function notFoundOf(path: string): ReadonlyMap<string, ErrorCode> {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  return new Map(names.map((name) => [name, notFoundByName(name)]));
}

function notFoundByName(name: string): ErrorCode {
  const code = NOT_FOUND[name];
  if (code === undefined) throw new TypeError(`the path parameter ${name} names no known resource`);
  return code;
}
