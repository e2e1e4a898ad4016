export { questionState, tellsQuestions, toldQuestionsJson, type ToldQuestion } from './answers.ts';
export { type TranscriptStep, fitTranscript } from './context-window.ts';
export type { PromptRun } from './briefing.ts';
export { followUpJson, renderFollowUp, type FollowUp } from './follow-up.ts';
export { fence } from './fence.ts';
export { type Opening, PREAMBLE, openingMessages, renderPrompt } from './prompt.ts';
export {
  type PreviousData,
  asksForData,
  previousDataJson,
  type PreviousRunJson,
  previousRunJson,
  previousRunOf,
} from './previous.ts';
