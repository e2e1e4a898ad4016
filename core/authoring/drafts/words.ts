const SEGMENTS = new Intl.Segmenter('und', { granularity: 'word' });

/** Words that say nothing about the subject of a sentence. */
const COMMON = new Set(
  'about after again against also and any are before both but can check each every find for from give has have how into its just last let like list look make mail me more most new not now off once one only our out over please report run say says send show since some summarize summarise tell than that the their them then there these they this those two use watch week weekly what when where which who will with write you your'.split(
    ' ',
  ),
);

/** Returns the words of a text that say something about its subject, in any script. */
export function contentWords(text: string): Set<string> {
  const words = [...SEGMENTS.segment(text.toLowerCase())]
    .filter(({ isWordLike }) => isWordLike === true)
    .map(({ segment }) => stem(segment));
  return new Set(words.filter((word) => !COMMON.has(word) && (word.length > 2 || /[^\p{Script=Latin}\d]/u.test(word))));
}

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ies|y)$/, 'i').replace(/(?:ing|es|e|s)$/, '') : word;
}

export interface Described {
  readonly name: string;
  readonly description: string;
}

/** Returns the candidates that fit the words, the best first. A match counts more in a shorter name. */
export function bestMatches<T>(words: ReadonlySet<string>, all: readonly T[], describe: (each: T) => Described): T[] {
  const scored = all.map((each) => {
    const described = describe(each);
    const [name, description] = [contentWords(described.name), contentWords(described.description)];
    const score = [...words].reduce(
      (sum, word) => sum + (name.has(word) ? 6 / name.size : 0) + (description.has(word) ? 1 : 0),
      0,
    );
    return { each, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ each }) => each);
}
