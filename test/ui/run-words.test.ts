import { expect, test } from 'vitest';
import type { Shape } from '../../ui/src/api/types.ts';
import { calledWith, lineOf, reasonOf, stepBadgeOf } from '../../ui/src/format/run-words.ts';

type Step = Pick<Shape<'Step'>, 'kind' | 'state' | 'startedAt' | 'finishedAt'>;

const BEFORE = '2026-03-02T07:00:10.000Z';
const END = '2026-03-02T07:00:20.000Z';

function badge(step: Partial<Step>, state: Shape<'Run'>['state']): string {
  const whole = { kind: 'model', state: 'failed', startedAt: BEFORE, finishedAt: END, ...step };
  return stepBadgeOf(whole as Shape<'Step'>, { state, finishedAt: END });
}

test('a step that ended with its run is shown with its own outcome', () => {
  expect(badge({}, 'cancelled')).toBe('cancelled');
  expect(badge({}, 'failed')).toBe('failed');
  const waiting = { kind: 'tool', startedAt: null } as const;
  expect(badge(waiting, 'cancelled')).toBe('cancelled');
  expect(badge(waiting, 'failed')).toBe('not_begun');
});

test('a step that failed or was refused before its run was cancelled says so', () => {
  expect(badge({ kind: 'tool', finishedAt: BEFORE }, 'cancelled')).toBe('failed');
  expect(badge({ kind: 'tool', startedAt: null, finishedAt: BEFORE }, 'cancelled')).toBe('refused');
  expect(badge({ kind: 'tool', state: 'outcome_unknown' }, 'cancelled')).toBe('outcome_unknown');
  expect(badge({ state: 'succeeded' }, 'cancelled')).toBe('succeeded');
});

test.each([
  ['{"url":"https://example.com/pricing?q=1"}', 'read_page /pricing'],
  ['{"url":"https://example.com/"}', 'read_page example.com'],
  ['{"limit":3,"query":"price of tea"}', 'read_page price of tea'],
  ['{"limit":3}', 'read_page'],
  [null, 'read_page'],
])('a call with the arguments %j is named %j', (args, words) => {
  expect(calledWith({ toolName: 'read_page', name: 'x', arguments: args } as Parameters<typeof calledWith>[0])).toBe(
    words,
  );
});

const QUIET = { reason: null, errorMessage: null, outcomeSummary: null, resultPreview: null };

test.each([
  [{ outcomeSummary: '## **Two** pages are `gone`\nThe rest is fine.' }, 'Two pages are gone'],
  [{ resultPreview: '---\n\n| page | status |\n|---|---|\n| / | 200 |' }, 'page · status'],
  [{ resultPreview: '1. [Prices](https://example.com) rose' }, 'Prices rose'],
  [{ resultPreview: '```json\n{"items": [1]}' }, undefined],
  [{ resultPreview: '  [{"id": 1}' }, undefined],
  [{ resultPreview: '[Prices](https://example.com) rose' }, 'Prices rose'],
  [{ outcomeSummary: 'Paid \u202Ediap ton' }, 'Paid U+202Ediap ton'],
  [{ errorMessage: 'No\u200B answer' }, 'NoU+200B answer'],
  [{ reason: 'max_steps' }, 'Max steps.'],
  [{}, undefined],
])('a run with %j is described by the line %j', (run, line) => {
  expect(lineOf({ ...QUIET, ...run })).toBe(line);
});

test('the reason of a run’s end names characters that no one sees', () => {
  expect(reasonOf({ reason: 'could_not', errorMessage: 'All \u2066good\u2069' })).toBe('All U+2066goodU+2069');
});
