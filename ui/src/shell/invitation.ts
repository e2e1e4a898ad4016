const KEY = 'invitation';

/** Takes the token of an invitation out of the address and keeps it for this tab, over a sign-in or sign-up. */
export function keepInvitation(): string | undefined {
  const token = location.hash.slice(1);
  if (token !== '') {
    sessionStorage.setItem(KEY, token);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return readInvitation();
}

export function readInvitation(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function dropInvitation(): void {
  sessionStorage.removeItem(KEY);
}
