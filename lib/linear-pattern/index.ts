export { compilePattern } from './compile.ts';
export { matchesPattern, patternFault, PatternTooSlow } from './match.ts';
