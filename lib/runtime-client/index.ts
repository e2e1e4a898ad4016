export {
  createRuntimeClient,
  type RuntimeCall,
  type RuntimeClient,
  type RuntimeClientSettings,
  type RuntimeLease,
} from './client.ts';
export { RuntimeUnreachable } from './exchange.ts';
