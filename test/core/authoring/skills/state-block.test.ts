import { describe, expect, test } from 'vitest';
import { cutKeepingState } from '#core/authoring/skills/index.ts';
import { MAX_STATE, stateBlocks, stateKeys } from '#core/authoring/skills/state-block.ts';

function block(slug: string, ...lines: readonly string[]): string {
  return ['```state ' + slug, ...lines, '```'].join('\n');
}

function read(text: string): Record<string, Record<string, string>> {
  return Object.fromEntries(stateBlocks(text).map(({ slug, entries }) => [slug, Object.fromEntries(entries)]));
}

describe('a state block', () => {
  test('is read with its entries in order', () => {
    const text = `# Report\n\n${block('seo-audit', 'as-of: 2026-11-22', 'open: F1 /a, F2 /b: late')}\n`;
    expect(read(text)).toEqual({
      'seo-audit': { 'as-of': '2026-11-22', open: 'F1 /a, F2 /b: late' },
    });
    expect(stateKeys(text, 'seo-audit')).toEqual(['as-of', 'open']);
    expect(stateKeys(text, 'other')).toEqual([]);
  });

  test('stands once for each skill, and the last one of a slug counts', () => {
    const text = [block('a', 'n: 1'), block('b', 'n: 2'), block('a', 'n: 3')].join('\n\n');
    expect(read(text)).toEqual({ a: { n: '3' }, b: { n: '2' } });
  });

  test('may have an empty value and Windows line ends', () => {
    expect(read(block('a', 'open:').replaceAll('\n', '\r\n'))).toEqual({ a: { open: '' } });
  });

  test.each([
    ['that never ends', '```state a\nn: 1\n'],
    ['with a line of another form', block('a', 'n: 1', 'a sentence without a key')],
    ['with a key twice', block('a', 'n: 1', 'n: 2')],
    ['with nothing in it', block('a')],
    ['of an impossible slug', block('A B', 'n: 1')],
    ['of no slug', '```state\nn: 1\n```'],
    ['too long to be a state', block('a', `n: ${'x'.repeat(MAX_STATE)}`)],
    ['that is another language', block('a', 'n: 1').replace('state', 'yaml')],
  ])('%s is none', (_, text) => {
    expect(read(text)).toEqual({});
  });
});

test('openings without an end do not slow the reading down', () => {
  // If the parser read each opening to the end of the text, this call would take minutes.
  expect(stateBlocks('```state a\n'.repeat(40_000))).toEqual([]);
});

describe('a result is cut for the next run', () => {
  const state = block('a', 'n: 1');

  test('not at all where it fits', () => {
    expect(cutKeepingState(`short\n\n${state}`, 100)).toBe(`short\n\n${state}`);
  });

  test('in its report, never in its state', () => {
    const cut = cutKeepingState(`${'x'.repeat(20_000)}\n\n${state}`, 12_000);
    expect(cut).toHaveLength(12_000);
    expect(cut).toMatch(/^x+\n\n\[cut here\]\n\n```state a/);
    expect(read(cut)).toEqual({ a: { n: '1' } });
  });

  test('at its end where it has none, or where blocks would fill it', () => {
    expect(cutKeepingState('x'.repeat(200), 100)).toMatch(/^x{88}\n\n\[cut here\]$/);
    expect(cutKeepingState(Array.from({ length: 50 }, () => state).join('\n'), 100)).toHaveLength(100);
  });

  test('never through the middle of a character', () => {
    expect(cutKeepingState(`${'x'.repeat(87)}😀${'x'.repeat(200)}`, 100)).toMatch(/^x{87}\n/);
  });
});
