/** The words are English; dates and numbers follow the reader's own variant of English. */
export const LOCALE = navigator.languages.find((each) => each.startsWith('en') && isLocale(each)) ?? 'en-GB';

/** Tells whether `Intl` accepts a tag: a browser without a locale of the system may name "en-US@posix". */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

export const VIEWER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
