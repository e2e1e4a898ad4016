export {
  createSharedLink,
  deleteSharedLink,
  forgetSharedLinks,
  listSharedLinks,
  LONGEST_DAYS,
  openSharedLink,
} from './shared-links.ts';
