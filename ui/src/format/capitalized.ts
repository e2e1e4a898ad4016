export function capitalized(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Makes a sentence of the server's phrase. */
export function sentence(text: string): string {
  const whole = text.trim();
  const end = /[.!?]$/.test(whole) ? '' : '.';
  return `${capitalized(whole)}${end}`;
}
