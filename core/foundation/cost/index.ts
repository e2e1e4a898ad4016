export { costOf, pricesAt, totalTokens, type Prices, type Usage } from './cost.ts';
