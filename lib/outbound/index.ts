export { createOutboundClient, type OutboundClient, type OutboundClientOptions } from './client.ts';
export { OutboundError, type OutboundErrorCode } from './errors.ts';
export { outboundErrorIn } from './faults.ts';
export type { FetchLimits } from './guarded-fetch.ts';
