import type { Page } from 'playwright-core';

/** A stop of the Tab key. */
export interface Stop {
  /** Name of the stop in the message of a failure. */
  readonly name: string;
  readonly hasVisibleFocus: boolean;
  readonly isInView: boolean;
  /** True if the stop follows the previous one in the order of the document. */
  readonly isInOrder: boolean;
}

export interface TabWalk {
  readonly stops: readonly Stop[];
  /** Controls that a pointer can use but the Tab key does not reach. */
  readonly missed: readonly string[];
  /** True if the walk ended by itself. */
  readonly ends: boolean;
}

const MOST = 400;

/** Number of presses between two reads of the progress. The page itself checks before each press. */
const BATCH = 10;

/** Walks through a page with the Tab key alone, from its beginning until the focus leaves it. */
export async function walkByTab(page: Page): Promise<TabWalk> {
  // Without animations the focus style appears at once.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.evaluate(PREPARE);
  for (let count = 0; count < MOST; count += BATCH) {
    for (let press = 0; press < BATCH; press += 1) await page.keyboard.down('Tab');
    await page.keyboard.up('Tab');
    const walk = await page.evaluate<TabWalk>('window.tabWalk.read()');
    if (walk.ends) return walk;
  }
  return { stops: await page.evaluate<Stop[]>('window.tabWalk.stops'), missed: [], ends: false };
}

/** Script that runs in the page. It is a text, because the server's types have no document. */
const PREPARE = `(() => {
  const INTERACTIVE = 'a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=link], ' +
    '[role=checkbox], [role=switch], [role=tab], [role=radio], [role=combobox], [role=option], [role=menuitem]';
  // Arrow keys move within these groups, so the Tab key stops at one member of each.
  const ROVING = '[role=tablist], [role=radiogroup], [role=listbox], [role=menu], [role=toolbar]';
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: false })
    && element.getClientRects().length > 0;
  const isOff = (element) => element.disabled || element.closest('[inert], [hidden], [aria-hidden=true]') !== null;
  const nameOf = (element) => {
    const text = element.getAttribute('aria-label') || element.labels?.[0]?.textContent || element.textContent
      || element.getAttribute('placeholder') || '';
    return (element.getAttribute('role') || element.tagName.toLowerCase()) + ' ' + text.trim().slice(0, 60);
  };
  const looksOf = (element) => [element, element.parentElement, element.nextElementSibling].filter(Boolean)
    .flatMap((each) => [getComputedStyle(each), getComputedStyle(each, '::after')])
    .map((style) => [style.outlineStyle === 'none' ? '' : style.outlineStyle + style.outlineWidth + style.outlineColor,
      style.boxShadow, style.borderColor].join())
    .join(';');
  const isExpected = (element) => isVisible(element) && !isOff(element) && element.closest(ROVING) === null
    // Focusable by scripts only: a heading or a page that gets the focus when it opens.
    && !(element.getAttribute('tabindex') === '-1' && !element.matches('a[href], button, input, select, textarea'))
    // The button opens the list of a field, like the arrow keys do.
    && !(element.tabIndex === -1 && element.closest(':has(> [role=combobox])') !== null)
    // The hidden real field beneath a control of our own.
    && !(element.tabIndex === -1 && element.matches('input[aria-hidden], input[type=file]'));
  // Removes an automatic focus, so that each field is also seen without focus.
  document.activeElement?.blur();
  const expected = new Map();
  for (const element of document.querySelectorAll(INTERACTIVE)) {
    if (isExpected(element)) expected.set(element, looksOf(element));
  }
  const seen = new Set();
  let last = null;
  // The walk begins before all elements, even if a field has the focus.
  const start = document.createElement('span');
  start.tabIndex = -1;
  document.body.prepend(start);
  start.focus();
  const stops = [];
  let ends = false;
  const look = () => {
    const element = document.activeElement;
    start.remove();
    // A date field has several stops of its own.
    if (element !== null && element === last) return;
    if (element === null || element === document.body || element === document.documentElement || seen.has(element)) {
      ends = true;
      return;
    }
    const before = expected.get(element);
    const box = element.getBoundingClientRect();
    const stop = {
      name: nameOf(element),
      hasVisibleFocus: before === undefined ? looksOf(element) !== '' : before !== looksOf(element),
      isInView: box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0
        && box.top < innerHeight && box.left < innerWidth,
      isInOrder: last === null || (last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    };
    seen.add(element);
    last = element;
    stops.push(stop);
  };
  const missed = () => [...expected.keys()]
    .filter((element) => !seen.has(element) && element.isConnected && isExpected(element)).map(nameOf);
  let hasBegun = false;
  addEventListener('keydown', (event) => {
    // By now the focus of the previous press has settled. The first press only leaves the start.
    if (hasBegun && !ends) look();
    hasBegun = true;
    if (!ends) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  window.tabWalk = {
    stops,
    read() {
      if (!ends) look();
      return { stops, missed: ends ? missed() : [], ends };
    },
  };
})()`;
