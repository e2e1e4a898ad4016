import { expect, test } from 'vitest';
import { ACTION_REASONS } from '#core/execution/actions/index.ts';
import { sentence } from '#lib/text.ts';
import { argumentsLine, endOf, placeInWords, referencesIn } from '../../ui/src/format/action-words.ts';
import { drawn, partsAtUnseen, unseenIn, withoutUnseen } from '../../ui/src/format/drawn.ts';
import { conditionOf, leavesOf } from '../../ui/src/pages/inbox/rule-conditions.ts';
import { parseExact } from '../../ui/src/format/exact-number.ts';

const ID = 'act_01kx3k9y6wfd8r0v5m2c7t4q5e';

test('a rule is made of texts, numbers, flags and nulls alone, also of those within others', () => {
  const given = parseExact(
    `{"title":"Broken","big":12345678901234567890,"count":3,"on":true,"none":null,"in/side":{"list":["a"]},
      "ref":"{{${ID}.result./id}}","long":"${'x'.repeat(2_001)}"}`,
  );
  expect(leavesOf(given).map(({ pointer, comparisons }) => [pointer, comparisons])).toEqual([
    ['/title', ['equals', 'in', 'prefix']],
    ['/count', ['equals', 'in', 'atMost']],
    ['/on', ['equals']],
    ['/none', ['equals']],
    ['/in~1side/list/0', ['equals', 'in', 'prefix']],
  ]);
});

test('a condition keeps the type of the argument, and is none without a value', () => {
  const [text, number, flag] = leavesOf({ title: '1', count: 3, on: false }) as [Leaf, Leaf, Leaf];
  expect(conditionOf(text, 'equals', '2')).toEqual([{ pointer: '/title', equals: '2' }]);
  expect(conditionOf(text, 'in', '1\n\n2')).toEqual([{ pointer: '/title', in: ['1', '2'] }]);
  expect(conditionOf(text, 'prefix', '')).toEqual([]);
  expect(conditionOf(number, 'in', '1\n2')).toEqual([{ pointer: '/count', in: [1, 2] }]);
  expect(conditionOf(number, 'in', '1\nmany')).toEqual([]);
  expect(conditionOf(number, 'atMost', '')).toEqual([]);
  expect(conditionOf(number, 'atMost', '4.5')).toEqual([{ pointer: '/count', atMost: 4.5 }]);
  // A rule would hold for another number than the one that was typed.
  for (const typed of ['1e400', '-1e400', '1234567890123456789', '0.12345678901234567891', '0x10', 'Infinity', '""']) {
    expect([typed, conditionOf(number, 'equals', typed), conditionOf(number, 'atMost', typed)]).toEqual([
      typed,
      [],
      [],
    ]);
    expect(conditionOf(number, 'in', `1\n${typed}`)).toEqual([]);
  }
  expect(conditionOf(flag, 'equals', 'false')).toEqual([{ pointer: '/on', equals: false }]);
});

type Leaf = ReturnType<typeof leavesOf>[number];

test('the reason of an end reads as the API words it, and one that a newer service has as its name', () => {
  for (const [reason, words] of Object.entries(ACTION_REASONS)) expect(endOf({ reason })).toBe(sentence(words));
  expect(endOf({ reason: 'tool_moved' })).toBe('Tool moved.');
  expect(endOf({ reason: null })).toBeUndefined();
});

test('references to results of other calls are told apart from text', () => {
  expect(referencesIn(`See {{${ID}.result./id}} and {{name}}`)).toEqual([
    'See ',
    { actionId: ID, pointer: '/id' },
    ' and {{name}}',
  ]);
  expect(argumentsLine({ arguments: { issue: `{{${ID}.result./id}}`, text: 'a\u202Eb\nc', list: [1] } })).toBe(
    '(a result) · aU+202Eb c',
  );
  // The text is cut after the reference, and not within it.
  const long = { text: 'x'.repeat(120), issue: `{{${ID}.result./id}}` };
  expect(argumentsLine({ arguments: long })).toMatch(/x · \(a result\)$/);
  expect(argumentsLine({ arguments: null })).toBe('The arguments of the call are erased.');
  expect(placeInWords('/a~1b/c\u202E')).toBe('a/b › cU+202E');
});

test('characters that no one sees are named, and taken out on demand', () => {
  const text = 'pay\u202E\u200B\u{E0041}\u202E ok\n\u200D';
  expect(unseenIn(text)).toEqual(['U+202E', 'U+200B', 'U+E0041']);
  expect(drawn(text)).toBe('payU+202EU+200BU+E0041U+202E ok\n\u200D');
  expect(partsAtUnseen('pay\u202E\u200B now')).toEqual(['pay', 'U+202E', '', 'U+200B', ' now']);
  expect(withoutUnseen(text)).toBe('pay ok\n\u200D');
});
