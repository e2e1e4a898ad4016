export type { AskingRun } from './ask-tool.ts';
export { type AskDeps, askGate } from './ask.ts';
export { forgetSeen, keepSeen, readBaseline } from './baseline.ts';
export { GATE_REASONS, type GateReason, type GateVerdict } from './decide.ts';
