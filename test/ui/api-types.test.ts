import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { renderApiTypes, TYPES_FILE } from '../../ui/generate/api-types.ts';

test('the types of the dashboard are those of this API; npm run ui:types updates them', async () => {
  expect(await readFile(TYPES_FILE, 'utf8')).toBe(await renderApiTypes());
});
