import { useEffect, useState } from 'react';

/** Returns the present time, updated at this interval while the page is visible. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return new Date(now);
}
