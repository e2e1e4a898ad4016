export { costOf, NO_USAGE, pricesAt, totalTokens, type Prices, type Usage } from './cost.ts';
