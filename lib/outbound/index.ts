export { createOutboundClient, USER_AGENT, type OutboundClient, type OutboundClientOptions } from './client.ts';
export { OutboundError, type OutboundErrorCode, outboundErrorIn } from './errors.ts';
export type { FetchLimits } from './guarded-fetch.ts';
export { MAX_RETRY_AFTER_MS, postJson, unanswered, type Exchange } from './post.ts';
