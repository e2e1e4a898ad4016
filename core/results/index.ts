export {
  areNone,
  boundChanges,
  findChanges,
  type ChangeCounts,
  type Changes,
  type ComparedResult,
  type Withheld,
  WITHHELD,
} from './changes.ts';
export { checkForm } from './check-form.ts';
export { readItems, type Items, type ResultKey } from './items.ts';
export { resultSection } from './section.ts';
export { readData, type ResultForm } from './read-data.ts';
