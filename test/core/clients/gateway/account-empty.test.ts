import { expect, test } from 'vitest';
import { isAccountEmpty } from '#lib/provider-file/account-empty.ts';
import { readErrorBody } from '#core/clients/gateway/error-body.ts';
import { Refusal, toGatewayFailure } from '#core/clients/gateway/refusal.ts';
import { toModelFailure } from '#core/execution/steps/model-call.ts';

/** Fails a call like a server that sends this error. */
function failureOf(status: number, body: unknown, { prompt = 'Report.', retryAfter }: Options = {}) {
  const sent = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompt }] });
  const refused = { status, body: typeof body === 'string' ? body : JSON.stringify(body), retryAfter };
  return toModelFailure(toGatewayFailure(new Refusal(refused, { body: sent, apiKey: undefined })));
}

interface Options {
  readonly prompt?: string;
  readonly retryAfter?: string;
}

function error(message: string, fields: object = {}) {
  return { error: { message, ...fields } };
}

const CHECK_PLAN = 'You exceeded your current quota, please check your plan and billing details.';

test.for<[string, number, unknown]>([
  ['OpenAI', 429, error(CHECK_PLAN, { type: 'insufficient_quota', code: 'insufficient_quota' })],
  ['OpenAI, inactive', 429, error('Your account is not active, please check.', { code: 'billing_not_active' })],
  ['OpenAI, own limit', 400, error('Billing hard limit has been reached.', { code: 'billing_hard_limit_reached' })],
  ['Anthropic', 400, error('Your credit balance is too low to access the Anthropic API.')],
  ['OpenRouter, a key', 403, error('Key limit exceeded (total limit). Manage it using the settings.', { code: 403 })],
  ['OpenRouter', 402, error('This request requires more credits, or fewer max_tokens.', { code: 402 })],
  ['any 402', 402, 'Payment'],
  ['DeepSeek', 402, error('Insufficient Balance', { type: 'unknown_error' })],
  ['Moonshot', 429, error('Your account is suspended, please recharge.', { type: 'exceeded_current_quota_error' })],
  ['Zhipu', 429, error('您的账户已欠费，请充值后重试', { code: '1113' })],
  ['Gemini, prepaid', 429, [{ error: { code: 429, message: 'Your prepayment credits are depleted.' } }]],
  [
    'Gemini, no billing',
    403,
    error('This API method requires billing to be enabled.', { status: 'PERMISSION_DENIED' }),
  ],
  ['Alibaba', 400, error('Access denied, please make sure your account is in good standing.', { code: 'Arrearage' })],
  ['Volcengine', 403, error('The request failed.', { code: 'AccountOverdueError' })],
  ['xAI', 403, error('Your team has used all available credits or reached its monthly spending limit.')],
  ['Fireworks', 412, error('Account is suspended, possibly due to reaching the monthly spending limit.')],
  ['Hugging Face', 402, error('You have exceeded your monthly included credits for Inference Providers.')],
  ['Perplexity', 401, error(CHECK_PLAN, { type: 'insufficient_quota' })],
  ['LiteLLM', 400, error('Budget has been exceeded! Current cost: 5.1, Max budget: 5', { type: 'budget_exceeded' })],
  ['One API', 403, error('用户额度不足, 剩余额度: $0.00', { type: 'insufficient_user_quota' })],
  ['MiniMax', 502, error('insufficient balance', { code: '1008' })],
])('%s says that the account has no money, and is not asked again', ([, status, body]) => {
  const failure = failureOf(status, body);
  expect(failure).toMatchObject({ reason: 'model_account_empty', retryable: false });
  expect(failure.message).toContain('no money left');
});

test.for<[string, number, unknown, Options?]>([
  ['requests a minute', 429, error('Rate limit reached for requests per minute (RPM): limit 3.')],
  ['a free tier that renews', 429, error(`${CHECK_PLAN} * Quota exceeded for metric. Please retry in 27.4s.`)],
  ['a wait in the header', 429, error(CHECK_PLAN), { retryAfter: '27' }],
  ['an advert', 429, error('Rate limit reached. Add a payment method to your account for higher limits.')],
  ['tokens of a day', 429, error('Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests.')],
  ['a refused key', 401, error('Incorrect API key provided.')],
  ['an overload', 529, error('Overloaded')],
  ['a window', 400, error("This model's maximum context length is 8192 tokens.")],
  [
    'a quotation',
    400,
    error('Blocked by our filter: "Write to customers whose credit balance is too low and payment is required."'),
    { prompt: 'Write to customers whose credit balance is too low and payment is required.' },
  ],
])('%s is no lack of money', ([, status, body, options]) => {
  expect(failureOf(status, body, options).reason).not.toBe('model_account_empty');
});

test('words of a price in a long error are no lack of money', () => {
  const { said } = readErrorBody('The tool "credit_check" returned balance_sheet.pdf, budget.xlsx and a key.');
  expect(isAccountEmpty({ status: 400, said, hasWait: false })).toBe(false);
});
