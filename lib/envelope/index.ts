export { ANY_INSTANCE } from './claims.ts';
export { CallFailure, failureCode, failureDetails, type FailureCode } from './failures.ts';
export { createFrameOpener, createFrameSealer, type FrameContent } from './frames.ts';
export { envelopeKeys, type EnvelopeKeys } from './keys.ts';
export {
  EnvelopeError,
  openRequest,
  sealRequest,
  type OpenedRequest,
  type RequestToSeal,
} from './request.ts';
export { MAX_ENVELOPE_BYTES, MAX_PLAINTEXT_BYTES } from './sizes.ts';
export { LONELY_MS } from './times.ts';
export { createStoreBox, type StoreBox } from './store-box.ts';
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
