const PIECE = 40_000;

/** Cuts a text into pieces that are laid out quickly, each at the end of a line if one is near. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const limit = from + PIECE;
    const line = limit < text.length ? text.lastIndexOf('\n', limit) : text.length;
    // Each piece is a block of its own, so a line break at its end would show as an empty line.
    const isNear = line > limit - PIECE / 4;
    const until = isNear ? line : limit - (isHalf(text, limit) ? 1 : 0);
    pieces.push(text.slice(from, until));
    from = isNear ? until + 1 : until;
  }
  return pieces;
}

/** Returns true between the two halves of a character. */
function isHalf(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xff_ff;
}
