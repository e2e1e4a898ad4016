export { ANY_INSTANCE, LONELY_MS, MAX_ENVELOPE_BYTES, MAX_PLAINTEXT_BYTES } from './claims.ts';
export { CallFailure, failureCode, failureDetails, type FailureCode } from './bodies.ts';
export { createFrameOpener, createFrameSealer, type FrameContent } from './frames.ts';
export { envelopeKeys, type EnvelopeKeys } from './keys.ts';
export { EnvelopeError, openRequest, sealRequest, type OpenedRequest, type RequestToSeal } from './request.ts';
export { createStoreBox, type StoreBox } from './sealed.ts';
export {
  catalogResult,
  helloResult,
  runBody,
  runResult,
  verifyResult,
  type CatalogResult,
  type HelloResult,
  type ResultOf,
  type RunBody,
  type RunResult,
  type VerifyResult,
} from './bodies.ts';
