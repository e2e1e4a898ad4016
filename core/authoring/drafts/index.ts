export { loadBlueprints, SLOT_TYPES } from './blueprints.ts';
export { DRAFT_SOURCES, draftRoutine, type Draft } from './draft.ts';
