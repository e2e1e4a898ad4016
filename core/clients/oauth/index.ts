export {
  isFromIssuer,
  isSameIssuer,
  issuerName,
  readableDocuments,
  readServerMetadata,
  shownIssuer,
} from './metadata.ts';
export { readRegistration, type Tokens } from './responses.ts';
export {
  authenticateClient,
  postAsClient,
  refreshTokens,
  requestTokens,
  TokenError,
  type TokenDeps,
  type TokenEndpoint,
} from './token-endpoint.ts';
