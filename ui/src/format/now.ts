import { useEffect, useState } from 'react';

/** Returns the present time, updated at this interval while the page is visible. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      // React draws a component whose reads were refreshed unchanged, if its state is set to the same value.
      if (!document.hidden && Date.now() !== now) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, now]);
  return new Date(now);
}
