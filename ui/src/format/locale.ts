/** The words are English; dates and numbers follow the reader's own English. */
export const LOCALE = navigator.languages.find((each) => each.startsWith('en')) ?? 'en-GB';

/** The time zone of the reader. */
export const VIEWER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
