export { claimIdempotencyKey, forgetIdempotencyKeys, type StoredResponse } from './idempotency.ts';
