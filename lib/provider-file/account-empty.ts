/** A refusal by a model provider, with the provider's own words. */
export interface SaidRefusal {
  readonly status: number;
  /** Words of the error, with its type and code, without quotations of the request. */
  readonly said: string;
  /** True if the provider says when to ask again. */
  readonly hasWait: boolean;
}

/**
 * Tells whether a provider refuses because the account has no money left or has reached a limit on spending, so a retry
 * would not help. Source: the error texts of OpenAI, Anthropic, Gemini, OpenRouter, DeepSeek, Moonshot, Zhipu, MiniMax,
 * Alibaba, Volcengine, xAI, Fireworks, Hugging Face, LiteLLM and One API.
 */
export function isAccountEmpty({ status, said, hasWait }: SaidRefusal): boolean {
  if (status === 402 || MONEY.some((pattern) => pattern.test(said))) return true;
  // Some providers use the same words when there are too many requests a minute. Such a refusal ends by itself.
  return QUOTA.test(said) && !(hasWait || PASSES.test(said));
}

const MONEY: readonly RegExp[] = [
  // For example "Insufficient Balance", and insufficient_user_quota of One API.
  /insufficient[_ -]?(account[_ -]?)?(funds?|balance|credits?)\b|insufficient_user_quota/i,
  // For example "Your credit balance is too low", "Your prepayment credits are depleted".
  /\b(credits?|funds|balance|wallet)\b[^.]{0,60}\b(too low|not enough|insufficient|exhausted|depleted|used up|r[au]n out|negative|overdrawn)/i,
  // For example "has either used all available credits", "exceeded your monthly included credits".
  /\b(used|spent|exhausted|exceeded)\b[^.]{0,40}\bcredits?\b/i,
  /\b(out of|no|not enough|requires? more|purchase( more)?|buy( more)?)( available| remaining)? (credits?|funds|balance|money)\b/i,
  // For example "Billing hard limit has been reached", billing_not_active, "requires billing to be enabled".
  /\bbilling[_ ](not[_ ]active|hard[_ ]limit)|\bbilling\b[^.]{0,60}(inactive|disabled|not (active|enabled))|requires billing/i,
  /payment[_ -](is )?required|\bunpaid\b|overdue|\barrears?\b|arrearage|\brecharge\b|\btop[- ]up\b/i,
  // For example "Key limit exceeded", "reached its monthly spending limit".
  /\b(spend(ing)?|credits?|budget|key)[_ -](spend(ing)? )?(limit|cap)s?\b[^.]{0,40}(exceed|reach|hit)/i,
  /(exceed|reach|hit)[^.]{0,40}\b(spend(ing)?|credit|budget|billing)[_ -](limit|cap)|spending-limit/i,
  /budget (has been )?exceeded|exceeded[^.]{0,20}\bbudget\b|budget_exceeded/i,
  // Chinese for: overdue, balance used up, recharge, quota used up.
  /欠费|余额不足|余额已|充值|额度(已)?(不足|用尽|耗尽)/,
];

const QUOTA = /insufficient[_ -]?quota|exceeded[_ ](your |the )?current[_ ]quota|check your plan and billing/i;

const PASSES =
  /per[- ](second|minute|hour)|\b(rpm|tpm)\b|(try|retry)( again)? (in|after) |retry[_ ]?delay|rate[- ]limits?\b/i;
