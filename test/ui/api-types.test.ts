import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  FIELDS_FILE,
  renderApiTypes,
  renderRoutineFields,
  TYPES_FILE,
} from '../../ui/generate/api-types.ts';

test('the types of the dashboard are those of this API; npm run ui:types updates them', async () => {
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await renderApiTypes());
});

test('the dashboard names the fields of a routine as they are declared; npm run ui:types writes them', async () => {
  expect(await readFile(FIELDS_FILE, 'utf8')).toBe(renderRoutineFields());
});
