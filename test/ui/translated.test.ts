import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import { filledTest, pathsOf } from './support/every-page.ts';
import { pressAll, startTranslator, type Translation } from './support/translator.ts';

const test = filledTest();

test.runIf(FULL_SIZE).for<Translation>(['wrapped', 'replaced', 'kept'])(
  'every button works on pages, menus and dialogs whose texts a translator has %s',
  async (way, { person, made, visit }) => {
    const watched = await visit('about:blank', { as: person });
    const { page, complaints } = watched;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startTranslator(page, way);
    for (const [index, path] of pathsOf(person, made).entries()) {
      const pressed = await pressAll(watched, path, index === 0);
      expect(complaints, `${path} after ${pressed.join(', ')}`).toEqual([]);
    }
  },
);
