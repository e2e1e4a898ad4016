import { describe, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { MAX_STATE, stateBlocks, stateKeys } from '#core/authoring/skills/state-block.ts';

/** Registers that later runs need whole. Each is the first or second item, because a long result is cut at its end. */
const REGISTERS = {
  'content-brief': 'Register',
  'content-repurposing': 'Ledger',
  'copy-editing': 'Stet list',
  'keyword-research': 'Register',
  'sales-enablement': 'Kit index',
  'social-content': 'Ledger',
  'tracking-plan': 'Plan table',
  'voice-of-customer': 'Codebook',
};

const { skills, find } = await loadCatalogue().then((catalogue) => ({
  skills: catalogue.skills,
  find: (slug: string) => catalogue.find(slug)!.instructions,
}));

describe.each(skills.map(({ slug, instructions }) => [slug, instructions] as const))(
  'the memory of %s',
  (slug, text) => {
    const keys = stateKeys(text, slug);

    test('has a key for all that its text takes from the state block', () => {
      for (const [sentence, relied] of reliances(text)) {
        const named = [...relied.matchAll(/`([a-z-]+)`/g)].map(([, key]) => key!);
        expect(named, sentence).not.toEqual([]);
        expect(
          named.filter((key) => !keys.includes(key)),
          sentence,
        ).toEqual([]);
      }
    });

    test('has a key for each noun that the block is said to hold, keep or have', () => {
      for (const [, held = ''] of text.matchAll(/[Ss]tate [Bb]lock (?:holds|keeps?|has) ([^.;:]*)/g)) {
        const nouns = held
          .replace(/\([^)]*\)/g, '')
          .split(/,(?= [a-z]+ `)| and /)
          .filter((noun) => noun.trim() !== '');
        for (const noun of nouns) expect(noun, held).toMatch(/`[a-z-]+`/);
      }
    });
  },
);

test.each(Object.entries(REGISTERS))('the register of %s stands under its headline: %s', (slug, name) => {
  const output = find(slug).split('### Output\n')[1]!;
  expect(output).toContain(name);
  expect(output.indexOf(name)).toBeLessThan(output.search(/^3\. /m));
});

test('a block past the limit is no block, so the limit in the texts is the true one', () => {
  const block = (length: number) => `\`\`\`state a\nas-of: ${'x'.repeat(length - 8)}\n\`\`\`\n`;
  expect(stateBlocks(block(MAX_STATE))).toHaveLength(1);
  expect(stateBlocks(block(MAX_STATE + 1))).toEqual([]);
});

/** Finds the sentences outside the State section that name the state block, with the words after the name. */
function reliances(text: string): [string, string][] {
  return text
    .replace(/### State\n[\s\S]*?\n### /, '### ')
    .split(/(?<=[.:]\**)\s/)
    .filter((sentence) => /state block/i.test(sentence))
    .map((sentence) => [
      sentence,
      sentence
        .split(/state block/i)
        .slice(1)
        .join(''),
    ]);
}
