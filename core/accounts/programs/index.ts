export { enterClient } from './clients.ts';
export { approveAssistant, denyAssistant, readAskedConsent } from './consent.ts';
export {
  disconnectAssistant,
  endGrantsOfMember,
  forgetGrantsOfProject,
  forgetPrograms,
  listAssistants,
} from './grants.ts';
export { endReusedGrant, isExchangedNow } from './refresh.ts';
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
