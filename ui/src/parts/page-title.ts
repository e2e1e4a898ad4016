import { useEffect, useLayoutEffect } from 'react';

const PRODUCT = 'Routine Automation';

const shown: { title: string | undefined; unread: number } = { title: undefined, unread: 0 };

/** Names the page in the tab of the browser. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => show({ title }), [title]);
}

/** Sets the title of the page again after the dialog or page above it has closed. */
export function useTitleBack(): void {
  useLayoutEffect(() => {
    const { title } = shown;
    return () => show({ title });
  }, []);
}

/** Puts the number of unread results before the name of any page, as mail programs do. */
export function useUnreadInTitle(unread: number): void {
  useEffect(() => {
    show({ unread });
    return () => show({ unread: 0 });
  }, [unread]);
}

function show(change: Partial<typeof shown>): void {
  const { title, unread } = Object.assign(shown, change);
  const name = title === undefined ? PRODUCT : `${title} · ${PRODUCT}`;
  document.title = unread === 0 ? name : `(${unread}) ${name}`;
}
