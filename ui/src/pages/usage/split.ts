export const SPLITS = [
  { value: 'model', label: 'By model' },
  { value: 'routine', label: 'By routine' },
] as const;

export type Split = (typeof SPLITS)[number]['value'];

/** What an address says that the days are made of; models where it says nothing. */
export function splitOf(text: string | undefined): Split {
  return text === 'routine' ? 'routine' : 'model';
}
