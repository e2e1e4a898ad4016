export { createOutboundClient, USER_AGENT, type OutboundClient, type OutboundClientOptions } from './client.ts';
export { OutboundError, type OutboundErrorCode, outboundErrorIn } from './errors.ts';
export type { FetchLimits } from './guarded-fetch.ts';
