/** Cuts a text of somebody else to what a list or a log line can show: one line of whole characters. */
export function shownText(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');
}
