import { useEffect, useState } from 'react';

/** Returns the present time, updated at this interval while the page is visible. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      // Setting the same time again could draw the component, if its reads were refreshed without a change.
      if (!document.hidden && Date.now() !== now) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, now]);
  return new Date(now);
}
