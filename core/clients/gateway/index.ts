export { ABILITIES_OF_DIALECT, EFFORTS, type ModelAbilities } from './abilities.ts';
export { assistantPart } from './assistant-part.ts';
export {
  withoutDialect,
  type GatewayCall,
  type GatewayResponse,
  type ServedModel,
  type ToolCallRequest,
} from './call.ts';
export { catalogueFigures } from './catalogue.ts';
export { createGatewayClient, type GatewaySettings } from './client.ts';
export { GatewayFailure } from './failure.ts';
export { brokenInWords, finishClass, finishWord, NO_REASON } from './finish-words.ts';
export type { AbilityMemory } from './learning.ts';
export { faultInWords, ListError, sourceLabel, subjectOf, type ListFault } from './list-fault.ts';
export { fetchModels, type SeenSource, seenSource } from './list-models.ts';
export {
  countInput,
  countsOf,
  estimatedTokens,
  tokensAtLeast,
  usageOf,
  type CallInput,
  type CallUsage,
} from './tokens.ts';
export type { ListedModel, Prices } from './read-list.ts';
