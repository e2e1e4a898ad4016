import type { Page } from 'playwright-core';

/** How a translator changes a text: it wraps it, or takes it out and shows another one in its place. */
export type Translation = 'wrapped' | 'replaced';

/** Gives a page what changes its texts as translators of browsers do, and what presses its buttons in turn. */
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
    text.replaceWith(font);
    if (WAY === 'wrapped') font.append(text);
  }
};`;

/** Buttons of menus and dialogs that end what the test goes on with. */
const ENDING = 'Sign out|^Delete|^Archive|^Leave|^Remove|^Revoke|^Disconnect|^End ';

const PRESS = `window.pressNext = async (done, withFrame) => {
  const frames = async () => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
  };
  const nameOf = (element) => (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 60);
  const popup = [...document.querySelectorAll('[role=menu], [role=dialog], [role=alertdialog], [role=listbox]')]
    .filter((each) => each.checkVisibility() && !each.closest('[role=region]')).at(-1);
  // Toasts are dialogs too.
  const inside = popup !== undefined;
  const scope = popup ?? document.querySelector(withFrame ? 'body' : 'main') ?? document.body;
  const among = [...scope.querySelectorAll('button, [role=tab], [role^=menuitem], [role=option], summary')]
    .filter((each) => each.checkVisibility() && !each.disabled && !done.includes(nameOf(each)))
    .filter((each) => !(inside ? /${ENDING}/ : /Sign out/).test(nameOf(each)));
  // One choice of a list stands for all.
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
