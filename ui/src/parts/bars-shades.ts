/** Shades of one hue: series differ by lightness, so that colour is not needed to distinguish them. */
export const SHADES: readonly string[] = [
  'opacity-100',
  'opacity-75',
  'opacity-55',
  'opacity-40',
  'opacity-28',
];
