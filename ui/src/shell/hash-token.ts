import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/** Takes what stands behind the hash sign, as links of mails have it, and leaves none of it in the address bar. */
export function useHashToken(): string {
  const router = useRouter();
  const [token] = useState(() => location.hash.slice(1));
  useEffect(() => {
    if (token === '') return;
    // By the router, which would otherwise write its own idea of the address again.
    void router.navigate({ href: location.pathname + location.search, replace: true });
  }, [router, token]);
  return token;
}
