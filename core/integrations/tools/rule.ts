import { pointerTokens, valueAt, type JsonObject } from '#lib/json.ts';

/** A value that conditions compare with: a text, a boolean, null, or a number that a double represents. */
export type RuleValue = string | number | boolean | null;

/** A condition on one argument of a call. */
export type RuleCondition = { readonly pointer: string } & (
  | { readonly equals: RuleValue }
  | { readonly in: readonly RuleValue[] }
  | { readonly prefix: string }
  | { readonly atMost: number }
);

/** A rule that lets a call of a held tool through without a person if the call meets all conditions. */
export interface ToolRule {
  readonly id: string;
  readonly policyId: string;
  /** Hash of the definition that the rule was made for. A new definition ends the rule. */
  readonly definitionHash: string;
  readonly conditions: readonly RuleCondition[];
  readonly expiresAt: Date | null;
  /** The most calls that the rule lets through; null for no limit. */
  readonly maxUses: number | null;
  readonly uses: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** Finds the first rule whose conditions are all met by the arguments. */
export function matchingRule<Rule extends Pick<ToolRule, 'conditions'>>(
  rules: readonly Rule[],
  args: JsonObject,
): Rule | undefined {
  return rules.find(({ conditions }) => conditions.length > 0 && conditions.every((each) => isMet(each, args)));
}

/**
 * Tells whether arguments meet a condition. Missing values, values of another type and numbers that no double
 * represents meet no condition.
 */
function isMet(condition: RuleCondition, args: JsonObject): boolean {
  const value = valueAt(args, condition.pointer);
  if ('equals' in condition) return value === condition.equals;
  if ('in' in condition) return condition.in.some((each) => each === value);
  if ('prefix' in condition) return typeof value === 'string' && value.startsWith(condition.prefix);
  return typeof value === 'number' && value <= condition.atMost;
}

/** Describes the calls that a rule lets through, without its expiry and its limit of uses. */
export function ruleInWords({ conditions }: Pick<ToolRule, 'conditions'>): string {
  return `Calls whose ${conditions.map(conditionInWords).join(' and ')}, with any other arguments`;
}

function conditionInWords(condition: RuleCondition): string {
  const place = pointerTokens(condition.pointer).join(' › ');
  if ('equals' in condition) return `${place} is ${JSON.stringify(condition.equals)}`;
  if ('in' in condition) return `${place} is ${condition.in.map((each) => JSON.stringify(each)).join(' or ')}`;
  if ('prefix' in condition) return `${place} begins with ${JSON.stringify(condition.prefix)}`;
  return `${place} is at most ${condition.atMost}`;
}
