/** Returns the first letter of a name, for a small mark beside it. */
export function initial(name: string | undefined): string {
  const [first] = new Intl.Segmenter('en').segment(name ?? '');
  return (first?.segment ?? '').toUpperCase();
}
