/** Shades of one hue: series differ by lightness, so that colour is not needed to distinguish them. */
export const SHADES: readonly string[] = [
  'opacity-100',
  'opacity-70',
  'opacity-45',
  'opacity-30',
  'opacity-20',
];
