import type { Page } from 'playwright-core';

export interface Renders {
  /** Returns the components that were drawn since the last call, each by the beginning of its code. */
  readonly since: () => Promise<string[]>;
}

/**
 * Records the components that React draws, through the hook for developer tools, which every build has. Call it before
 * the page is opened.
 */
export async function recordRenders(page: Page): Promise<Renders> {
  await page.addInitScript(HOOK);
  return {
    since: () =>
      page.evaluate<string[]>(
        `(() => { const drawn = window.drawnByReact; window.drawnByReact = []; return drawn; })()`,
      ),
  };
}

/** A function component (0, 11, 14, 15 of React's work tags) was drawn if its fiber is new and has this flag. */
const HOOK = `(() => {
  const PERFORMED_WORK = 1;
  const COMPONENTS = new Set([0, 11, 14, 15]);
  window.drawnByReact = [];
  // A memoized component, or one with a ref, has its function in a property.
  const codeOf = (type) => typeof type === 'function' ? String(type).slice(0, 120) : codeOf(type.type ?? type.render);
  const visit = (fiber) => {
    for (let each = fiber; each !== null; each = each.sibling) {
      if (COMPONENTS.has(each.tag) && (each.flags & PERFORMED_WORK) !== 0) {
        window.drawnByReact.push(codeOf(each.type));
      }
      if (each.alternate === null || each.alternate.child !== each.child) visit(each.child);
    }
  };
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberUnmount: () => undefined,
    onPostCommitFiberRoot: () => undefined,
    onCommitFiberRoot: (_id, root) => {
      const { current } = root;
      if (current.alternate === null || current.alternate.child !== current.child) visit(current.child);
    },
  };
})()`;
