export { DEFINITION, variables, type Definition, type Limits, type OutcomeRule } from './definition.ts';
export { creationOf, patchOf, shortFields, shownOf, type Field, type Fields } from './field.ts';
export { gate, type Gate } from './gate.ts';
export { ABNORMAL_FROM_TOKENS, MEDIAN_OF_RUNS } from './limits.ts';
export { asksFor, fillPlaceholders, unknownPlaceholders } from './placeholders.ts';
export {
  RESULT_CHECK_TYPES,
  checkPatterns,
  resultSection,
  type ResultCheck,
  type ResultCheckType,
  type ResultForm,
  type ResultKey,
} from './results.ts';
export { fieldsWith, SCHEDULE_LIMITS, scheduleFields, type RoutineSettings } from './settings.ts';
export { settingsForm } from './stored-settings.ts';
export {
  VERSION_FIELDS,
  definitionForm,
  shortDefinition,
  shortForm,
  type ShortDefinition,
  type StoredDefinition,
  type VersionField,
} from './stored-definition.ts';
export { MAX_CARRIED_LENGTH, checkTextLimits, promptRoom } from './text-limits.ts';
