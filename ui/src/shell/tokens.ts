import { useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/** Takes the token behind the hash sign of a link from a mail, and removes it from the address bar. */
export function useHashToken(): string {
  const router = useRouter();
  // Read the router's state, because such a link may be opened in a tab where this page is already open.
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const [token, setToken] = useState(hash);
  if (hash !== '' && hash !== token) setToken(hash);
  useEffect(() => {
    if (hash === '') return;
    // Change the address through the router, which would otherwise restore the old one.
    void router.navigate({ href: location.pathname + location.search, replace: true });
  }, [router, hash]);
  return token;
}

const KEY = 'invitation';

/** Keeps the token of an invitation for this tab, over a sign-in or sign-up. */
export function keepInvitation(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function readInvitation(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function dropInvitation(): void {
  sessionStorage.removeItem(KEY);
}
