/** One hue in steps: the series differ by lightness, so that they can be told apart without colours. */
export const SHADES: readonly string[] = [
  'opacity-100',
  'opacity-70',
  'opacity-45',
  'opacity-30',
  'opacity-20',
];
