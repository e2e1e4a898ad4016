export { loadBlueprints, SLOT_TYPES, type Blueprint } from './blueprints.ts';
export { DRAFT_SOURCES, draftRoutine, type Draft } from './draft.ts';
