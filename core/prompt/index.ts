export { type TranscriptStep, fitTranscript } from './context-window.ts';
export { fence } from './fence.ts';
export { type Opening, PREAMBLE, openingMessages } from './opening.ts';
export { type PreviousData, asksForData, previousDataJson } from './previous-data.ts';
export {
  type PreviousRun,
  type PreviousRunJson,
  previousRunJson,
  previousRunOf,
} from './previous-run.ts';
export { renderPrompt } from './prompt.ts';
