export { forgetSeen, keepSeen } from './baseline.ts';
export { passGate, type GateDeps, type Passage } from './pass.ts';
export { GATE_REASONS, type GateReason, type GateVerdict } from './verdict.ts';
export { gateText, wordsOnGate } from './words.ts';
