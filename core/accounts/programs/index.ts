export { exchangeIdToken } from './ci-sign-in.ts';
export { createCiTrust, deleteCiTrust, listCiTrusts } from './ci-trusts.ts';
export { enterClient } from './clients.ts';
export { approveAssistant, denyAssistant, readAskedConsent } from './consent.ts';
export {
  disconnectAssistant,
  endGrantsOfMember,
  endReusedGrant,
  forgetGrantsOfProject,
  forgetPrograms,
  isExchangedNow,
  listAssistants,
} from './grants.ts';
export {
  approveTerminalSignIn,
  denyTerminalSignIn,
  readTerminalSignIn,
  redeemTerminalSignIn,
  requestTerminalSignIn,
  TERMINAL_SECONDS,
  UNKNOWN_CODE,
} from './terminals.ts';
export { authenticateMcpToken } from './tokens.ts';
