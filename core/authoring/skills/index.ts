export {
  loadCatalogue,
  MAX_INSTRUCTIONS,
  MIN_INSTRUCTIONS,
  type CuratedSkill,
  type SkillCatalogue,
} from './catalogue.ts';
export {
  createSkill,
  deleteSkill,
  forgetDeletedSkills,
  forgetSkillsOf,
  listCustomSkills,
  readCustomSkill,
  updateSkill,
  type CustomSkill,
} from './custom.ts';
export { putSkill } from './put.ts';
export { CADENCES, SCHEDULED, SUGGESTED_SCHEDULES, suggestedSchedule } from './front-matter.ts';
export { NEEDS, unmetNeeds, type Need } from './needs.ts';
export {
  KEPT_REVISIONS,
  listRevisions,
  revisionsInUse,
  skillsBehind,
  type SkillBehind,
  type SkillRevision,
  type SkillRevisions,
} from './revisions.ts';
export { cutKeepingState, showsState, STATE_SECTION } from './state-block.ts';
export {
  measureSkills,
  missingSkills,
  resolveSkills,
  revisionsOf,
  sectionLength,
  skillSection,
  type AttachedSkill,
  type SkillSize,
} from './references.ts';
