export { askGate } from './ask.ts';
export { forgetSeen, keepSeen, readBaseline } from './baseline.ts';
export { GATE_REASONS, type GateReason, type GateVerdict } from './decide.ts';
