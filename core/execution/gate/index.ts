export { askGate } from './ask.ts';
export { forgetSeen, keepSeen, readBaseline, seenAtEnd } from './baseline.ts';
export { GATE_REASONS, type GateVerdict } from './decide.ts';
