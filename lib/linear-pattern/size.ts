/**
 * Bounds the instructions of a compiled pattern from its text alone: a pattern of 500 characters can repeat what it
 * repeats, and takes seconds to compile.
 * @param pattern one that JavaScript takes
 */
export function sizeBound(pattern: string): number {
  // Sizes of the open groups, from the outside in: what they hold so far, and the part that a count would repeat.
  const groups = [{ whole: 0, last: 0 }];
  for (const [token] of pattern.matchAll(TOKEN)) {
    const group = groups.at(-1) ?? { whole: 0, last: 0 };
    const times = COUNT.exec(token);
    if (token === '(') {
      groups.push({ whole: 0, last: 0 });
    } else if (token === ')') {
      groups.pop();
      add(groups.at(-1), group.whole + 2);
    } else if (times === null) {
      add(group, 1);
    } else {
      const more = group.last * Number(times[2] || times[1]);
      group.whole += more;
      group.last += more;
    }
  }
  return groups[0]?.whole ?? 0;
}

function add(group: { whole: number; last: number } | undefined, size: number): void {
  if (group === undefined) return;
  group.whole += size;
  group.last = size;
}

/** A class, an escape, a count, or a character. */
const TOKEN = /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\.|\{\d+(?:,\d*)?\}|[^]/gu;
const COUNT = /^\{(\d+)(?:,(\d*))?\}$/;
