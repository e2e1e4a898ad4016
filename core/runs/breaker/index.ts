export { accountOf } from './account.ts';
export {
  breakerIsOpen,
  forgetBreakers,
  lockOpenBreakers,
  openBreakers,
  takeProbes,
} from './queries.ts';
export { breakerAfterRun } from './record.ts';
export { chooseProbes } from './rule.ts';
