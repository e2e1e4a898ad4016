export {
  costOf,
  estimatedTokens,
  pricesAt,
  tokenCount,
  tokensAtLeast,
  totalTokens,
  type LongPrices,
  type Prices,
  type Usage,
} from './cost.ts';
