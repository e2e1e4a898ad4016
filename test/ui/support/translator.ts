import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { FULL_SIZE } from '#test/support/properties.ts';
import type { Watched } from './watched.ts';

/**
 * Ways in which a translator changes a text: it wraps the text, or replaces it by another one; `kept` also does so with
 * each text that comes later, in two elements and two steps.
 */
export type Translation = 'wrapped' | 'replaced' | 'kept';

/** Gives a page two scripts: one changes its texts like translators in browsers, one presses its buttons in turn. */
export async function startTranslator(page: Page, way: Translation): Promise<void> {
  await page.addInitScript(`window.WAY = '${way}'; ${TRANSLATE} ${PRESS}`);
}

const TRANSLATE = `window.translate = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    if (text.data.trim() === '' || text.parentElement.closest('font, script, style, textarea, [translate=no]')) continue;
    const font = document.createElement('font');
    if (WAY === 'replaced') font.textContent = text.data;
    if (WAY === 'kept') {
      font.append(document.createElement('font'));
      font.firstChild.textContent = text.data;
      text.before(font);
      text.remove();
    } else text.replaceWith(font);
    if (WAY === 'wrapped') font.append(text);
  }
};
if (WAY === 'kept') {
  new MutationObserver(() => document.body && translate()).observe(document, { childList: true, characterData: true, subtree: true });
}`;

/** Buttons of menus and dialogs that would end the test's session or delete its resources. */
const ENDING = 'Sign out|^Delete|^Archive|^Leave|^Remove|^Revoke|^Disconnect|^End ';

const PRESS = `window.pressNext = async (done, withFrame) => {
  const frames = async () => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
  };
  const nameOf = (element) => (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 60);
  const popup = [...document.querySelectorAll('[role=menu], [role=dialog], [role=alertdialog], [role=listbox]')]
    .filter((each) => each.checkVisibility() && !each.closest('[role=region]')).at(-1);
  // Toasts have the role of dialogs too.
  const inside = popup !== undefined;
  const scope = popup ?? document.querySelector(withFrame ? 'body' : 'main') ?? document.body;
  const among = [...scope.querySelectorAll('button, [role=tab], [role^=menuitem], [role=option], summary')]
    .filter((each) => each.checkVisibility() && !each.disabled && !done.includes(nameOf(each)))
    .filter((each) => !(inside ? /${ENDING}/ : /Sign out/).test(nameOf(each)));
  // One choice of a list is enough.
  const isChosen = popup?.role === 'listbox' && window.chosen === popup.id;
  if (popup?.role === 'listbox') window.chosen = popup.id;
  const next = isChosen ? undefined : among[0];
  if (next === undefined) return inside ? { name: 'Escape', inside: false, left: 0 } : null;
  const name = nameOf(next);
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
    const Kind = type.startsWith('pointer') ? PointerEvent : MouseEvent;
    next.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, detail: 1, pointerType: 'mouse' }));
  }
  await frames();
  translate();
  await frames();
  return { name, inside, left: popup?.role === 'listbox' ? 0 : among.length - 1 };
};`;

/** Presses the buttons of a page, optionally those of its frame, and those in the menus and dialogs that open. */
export async function pressAll(watched: Watched, path: string, withFrame: boolean): Promise<string[]> {
  const most = FULL_SIZE ? 40 : 12;
  const { page } = watched;
  const done: string[] = [];
  let opener: string | undefined;
  await open(watched, path);
  while (done.length < most) {
    const before = page.url();
    const pressed = await page
      .evaluate<Pressed>(`pressNext(${JSON.stringify(done)}, ${withFrame})`)
      // The button has opened another document.
      .catch((): Pressed => ({ name: 'a way out', inside: false, left: 0 }));
    if (pressed === null) break;
    if (pressed.name === 'Escape') await page.keyboard.press('Escape');
    else if (!pressed.inside) opener = pressed.name;
    // A menu closes with each of its items, so it is opened again for the next one.
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
