export {
  assertMayBeginSignIn,
  assertWithinLimit,
  counting,
  countUse,
  countWithin,
  forgetCounts,
  throttle,
  uncount,
  unthrottle,
  type ThrottleRule,
  type WindowUse,
} from './throttle.ts';
