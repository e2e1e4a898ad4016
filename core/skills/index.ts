export {
  loadCatalogue,
  MAX_INSTRUCTIONS,
  MIN_INSTRUCTIONS,
  readSkill,
  type CuratedSkill,
  type SkillCatalogue,
} from './catalogue.ts';
export {
  createSkill,
  deleteSkill,
  listCustomSkills,
  readCustomSkill,
  updateSkill,
  type CustomSkill,
} from './custom.ts';
export { assertSkillsExist, resolveSkills, type AttachedSkill } from './references.ts';
