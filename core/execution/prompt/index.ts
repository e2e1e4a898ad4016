export { type TranscriptStep, fitTranscript } from './context-window.ts';
export { fence } from './fence.ts';
export { type Opening, PREAMBLE, openingMessages, renderPrompt } from './prompt.ts';
export {
  type PreviousData,
  asksForData,
  previousDataJson,
  type PreviousRun,
  type PreviousRunJson,
  previousRunJson,
  previousRunOf,
} from './previous.ts';
