import { useEffect, useState } from 'react';

/** Returns the present time, updated at this interval while the page is visible. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      // Do not set the same time again: React may render the component for it once more.
      if (!document.hidden && Date.now() !== now) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, now]);
  return new Date(now);
}
