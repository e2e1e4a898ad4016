export { createRuntimeClient, type RuntimeCall, type RuntimeClient, type RuntimeClientSettings } from './client.ts';
export { RuntimeUnreachable } from './exchange.ts';
