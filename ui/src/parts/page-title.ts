import { useEffect } from 'react';

const PRODUCT = 'Routine Automation';

/** Names the page in the tab of the browser. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? PRODUCT : `${title} · ${PRODUCT}`;
  }, [title]);
}
