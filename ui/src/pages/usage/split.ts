export const SPLITS = [
  { value: 'model', label: 'By model' },
  { value: 'routine', label: 'By routine' },
] as const;

export type Split = (typeof SPLITS)[number]['value'];

/** Reads from the address how days are split; by model where it says nothing. */
export function splitOf(text: string | undefined): Split {
  return text === 'routine' ? 'routine' : 'model';
}
