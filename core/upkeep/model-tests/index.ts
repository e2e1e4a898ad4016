export { CHECKS } from './checks.ts';
export { estimateTest, testModel } from './test-model.ts';
