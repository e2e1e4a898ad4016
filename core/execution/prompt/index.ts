export type { ToldQuestion } from './answers.ts';
export { type TranscriptStep, fitTranscript } from './context-window.ts';
export { renderFollowUp, type FollowUp, type PreviousData, type PreviousRun, type PromptRun } from './briefing.ts';
export { fence } from './fence.ts';
export { type Opening, PREAMBLE, openingMessages, renderPrompt } from './prompt.ts';
