import { expect } from 'vitest';
import { filledTest, pathsOf } from './support/every-page.ts';
import { startTranslator, type Translation } from './support/translator.ts';
import type { Watched } from './support/watched.ts';

const test = filledTest();

test.for<Translation>(['wrapped', 'replaced'])(
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

test('a translated text that changes is seen as it is then, and once', async ({ person, visit }) => {
  const { page, settled } = await visit('about:blank', { as: person });
  await startTranslator(page, 'replaced');
  await page.goto(`/p/${person.projectId}/settings?tab=facts`);
  await settled();
  for (const text of ['Three facts.', 'Four facts, no more.']) {
    await page.evaluate('translate()');
    await page.getByRole('textbox', { name: 'Facts' }).fill(text);
    await page.getByText(`${text.length} of 24,000 characters`, { exact: true }).waitFor();
  }
});

/** Presses the buttons of a page, or of the frame around it too, and those of the menus and dialogs that they open. */
async function pressAll(watched: Watched, path: string, withFrame: boolean): Promise<string[]> {
  const most = 40;
  const { page } = watched;
  const done: string[] = [];
  let opener: string | undefined;
  await open(watched, path);
  while (done.length < most) {
    const before = page.url();
    const pressed = await page
      .evaluate<Pressed>(`pressNext(${JSON.stringify(done)}, ${withFrame})`)
      // The button has led to another document.
      .catch((): Pressed => ({ name: 'a way out', inside: false, left: 0 }));
    if (pressed === null) break;
    if (pressed.name === 'Escape') await page.keyboard.press('Escape');
    else if (!pressed.inside) opener = pressed.name;
    // A menu closes with each of its items: it is opened again for the next one.
    if (pressed.inside && pressed.left > 0 && opener !== undefined && done.includes(opener)) {
      done.splice(done.indexOf(opener), 1);
    }
    done.push(pressed.name);
    expect(await page.getByText('This page has failed').count(), `${path} after ${done.join(', ')}`).toBe(0);
    if (page.url() !== before) await open(watched, path);
  }
  return done;
}

type Pressed = { readonly name: string; readonly inside: boolean; readonly left: number } | null;

async function open({ page, settled }: Watched, path: string): Promise<void> {
  await page.goto(path);
  await settled();
  await page.evaluate('translate()');
}
