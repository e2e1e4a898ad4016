/** Finds caps of one list that a skill gives twice with different numbers. */
import { sentencesOf, shown, type Line, type SkillText } from './skill-text.ts';

const WORDS =
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
const COUNT = `(\\d+|${WORDS.join('|')})(?: (?:new|such|of the|the))?`;
const SCOPE = '(?: (?:per|an?|each|in) ([a-z-]+))?';
const BEFORE = new RegExp(
  `\\b(?:at most|no more than|up to|max(?:imum)?|cap (?:the )?\\w+ at|keep) ${COUNT}(?: ([a-z-]+))?${SCOPE}`,
  'giu',
);
const BEHIND = new RegExp(`\\b${COUNT} ([a-z-]+)${SCOPE} at most\\b`, 'giu');
/** Names that the section Method uses for the rows of any list in the section Output. */
const ANY = /^(?:suggestion|proposal|item|change|finding|recommendation|fixe?)$/u;

interface Cap {
  readonly count: number;
  readonly of: string;
}

/**
 * Finds a list with a cap in the section Output and another number elsewhere. The section Compare may set a smaller
 * cap, for a first run.
 */
export function capFaults({ prose }: SkillText): string[] {
  const caps = prose.filter(({ section }) => section === 'Output').flatMap(capsIn);
  const isSecond = ({ count, of }: Cap, section: string) => {
    const same = caps.filter((cap) => cap.of === of);
    if (same.length > 0) return same.some((cap) => cap.count !== count);
    const isAny = section === 'Method' && ANY.test(of);
    return isAny && caps.length > 0 && caps.every((cap) => cap.count !== count);
  };
  return prose
    .filter(({ section }) => !section.startsWith('Compare'))
    .flatMap((line) =>
      capsIn(line.section === 'Work budget' ? onlyWriting(line) : line)
        .filter((cap) => isSecond(cap, line.section))
        .map(({ count, of }) => `${line.section}: a second cap for ${of}, ${count}: ${shown(line.text)}`),
    );
}

/** Removes from the work budget the numbers about reading. */
function onlyWriting({ section, label, text }: Line): Line {
  const writing = sentencesOf(text).filter((sentence) =>
    /^(?:Draft|List|Print|Propose|Report|Suggest|Write)\b/u.test(sentence),
  );
  return { section, label, text: writing.join(' ') };
}

/**
 * Reads the caps of a line. A cap in a label, like "New links, at most 10", applies to the list that the label names.
 */
function capsIn({ label, text }: Line): Cap[] {
  const [name = '', qualified = ''] = label.split(/,(.*)/u);
  const named = found(qualified).map(([count, noun]) => [count, noun || name.split(' ').at(-1)]);
  const written = sentencesOf(text).flatMap((sentence) =>
    found(sentence).map(([count, noun, scope]) => [
      count,
      [noun.replace(/s$/u, ''), scope].filter(Boolean).join(' per '),
    ]),
  );
  return [...named, ...written]
    .map(([count = '', of = '']) => ({
      count: /\d/u.test(count) ? Number(count) : WORDS.indexOf(count.toLowerCase()) + 1,
      of: of.toLowerCase().replace(/s$/u, ''),
    }))
    .filter(({ count, of }) => count > 1 && of !== '');
}

function found(text: string): [string, string, string][] {
  return [...text.matchAll(BEFORE), ...text.matchAll(BEHIND)].map(([, count = '', noun = '', scope = '']) => [
    count,
    noun,
    scope,
  ]);
}
