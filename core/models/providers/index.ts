export {
  CANNOT_CONNECT,
  describeProvider,
  describeProviders,
  type AuthType,
  type ProviderDescriptor,
} from './descriptors.ts';
export { loadModelProviders, type ModelProvider, type ModelProviders } from './providers.ts';
export { keepRuntimeLease, openModelRuntime, runningLease, type ModelRuntime } from './runtime.ts';
