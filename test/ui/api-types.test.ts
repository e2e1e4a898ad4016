import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  FIELDS_FILE,
  renderApiTypes,
  renderRoutineFields,
  renderWords,
  TYPES_FILE,
  WORDS_FILE,
} from '../../ui/generate/api-types.ts';
import { ROUTINE_FIELDS } from '../../ui/src/api/routine-fields.ts';
import { declared, GROUPS, labelOf, OTHER_FIELDS, textOf, valueInWords } from '../../ui/src/parts/routine-fields.ts';

test('the types of the dashboard are those of this API; npm run ui:types updates them', async () => {
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await renderApiTypes());
});

test('the dashboard names the fields of a routine as they are declared; npm run ui:types writes them', async () => {
  expect(await readFile(FIELDS_FILE, 'utf8')).toBe(renderRoutineFields());
});

test('the dashboard words reasons as the service does; npm run ui:types writes them', async () => {
  expect(await readFile(WORDS_FILE, 'utf8')).toBe(renderWords());
});

test('a field of a routine has an editor of its own in the composer, or a kind by which it is edited', () => {
  const uneditable = OTHER_FIELDS.filter((name) => declared(name)?.kind === undefined);
  expect(uneditable).toEqual([]);
  const named = Object.values(GROUPS)
    .flat()
    .map((field) => field.split('.')[0]);
  expect(named).toEqual(expect.arrayContaining(Object.keys(ROUTINE_FIELDS)));
});

test('a value of a field reads the same wherever it stands, with names for its parts', () => {
  expect(textOf('limits', { maxSteps: 25, timeoutSeconds: 900, maxTotalTokens: null })).toBe(
    'Steps of a run: 25\nTime of a run (seconds): 900',
  );
  expect(textOf('variables', { maxSteps: 'kept' })).toBe('maxSteps: kept');
  expect(['schedule', 'carryResult', 'skills', 'webhookUrl'].map((field) => labelOf(field))).toEqual([
    'Schedule',
    'Previous result',
    'Skills',
    'Webhook',
  ]);
  expect(valueInWords('schedule', '0 7 * * *')).toBe('0 7 * * *');
  expect(valueInWords('carryResult', true)).toBe('Yes');
  expect(valueInWords('webhookUrl', null)).toBe('None');
});
