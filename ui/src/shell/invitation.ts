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
