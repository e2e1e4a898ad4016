export {
  accountOf,
  breakerAfterRun,
  breakerIsOpen,
  chooseProbes,
  forgetBreakers,
  lockOpenBreakers,
  openBreakers,
  takeProbes,
} from './breaker.ts';
