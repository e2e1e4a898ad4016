export { calculateTool } from './tool.ts';
export { evaluateExpression } from './expression.ts';
