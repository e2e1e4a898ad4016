import { expect, test } from 'vitest';
import { BUILT_IN_VARIABLES } from '#core/authoring/definition/placeholders.ts';
import { BUILT_IN, builtInsOf, variablesIn } from '../../ui/src/pages/composer/placeholders.ts';

test('the composer knows every placeholder that the service fills in, and no other', () => {
  expect(BUILT_IN.map(({ name }) => name).toSorted()).toEqual(BUILT_IN_VARIABLES.toSorted());
});

test('what a run fills in by itself is not asked for as a variable', () => {
  const text = BUILT_IN_VARIABLES.map((name) => `{{${name}}}`).join(' ');
  expect(variablesIn(`${text} {{ site }} {{site}} {{not a name}}`)).toEqual(['site']);
});

test('commands that only some routines have are offered only there', () => {
  const names = (of: Parameters<typeof builtInsOf>[0]) => builtInsOf(of).map(({ name }) => name);
  const plain = names({ gate: null, resultSchema: null, mayAsk: false });
  expect(plain).not.toContain('gate.value');
  expect(plain).not.toContain('previous.changes');
  expect(plain).not.toContain('answers');
  expect(names({ gate: null, resultSchema: { type: 'object' }, mayAsk: false })).toContain('previous.changes');
  expect(names({ gate: null, resultSchema: null, mayAsk: true })).toContain('answers');
});
