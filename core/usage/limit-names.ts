/** Scopes of a limit: the routine's own, that of its project or organization, the operator's, or the plan's. */
export const LIMIT_SCOPES = ['routine', 'project', 'organization', 'operator', 'plan'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** Names of the limits: tokens a day, US dollars a month, runs in the plan's period. */
export const LIMIT_NAMES = ['maxTokensPerDay', 'maxCostUsdPerMonth', 'runsPerPeriod'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Says who may raise a limit. */
export const RAISED_BY: Readonly<Record<LimitScope, string>> = {
  routine: 'whoever may change the routine',
  project: 'an owner or an admin of the organization',
  organization: 'an owner or an admin of the organization',
  operator: 'the operator of the service',
  plan: 'the owner of the organization, with a larger plan',
};

/** Names a limit as a sentence does: "the project's budget.maxCostUsdPerMonth of 5 US dollars". */
export function limitInWords(limit: {
  readonly scope: LimitScope;
  readonly name: LimitName;
  readonly max: string;
}): string {
  const { scope, name, max } = limit;
  if (scope === 'plan') return `the plan's allowance of ${max} runs a period`;
  if (scope === 'operator')
    return `the operator's MAX_COST_USD_PER_ORGANIZATION of ${max} US dollars`;
  const unit = name === 'maxTokensPerDay' ? 'tokens' : 'US dollars';
  return `the ${scope}'s budget.${name} of ${max} ${unit}`;
}

/** Says of a limit that too little of it is left, and who may raise it. */
export function tooLittleLeft(limit: Parameters<typeof limitInWords>[0]): string {
  const words = limitInWords(limit);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} leaves too little for a step. It can be raised by ${RAISED_BY[limit.scope]}.`;
}
