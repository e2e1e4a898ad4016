import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { call } from './call.ts';
import type { DataOf } from './types.ts';

export type Session = NonNullable<DataOf<'/auth/get-session', 'get'>>;

export const SESSION_KEY = ['session'] as const;

/** Reads the session; null without a sign-in. */
export function sessionQuery() {
  return {
    queryKey: SESSION_KEY,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Session | null> =>
      (await call('get', '/auth/get-session', {}, { signal })).data,
    staleTime: 60_000,
  };
}

const SessionContext = createContext<Session | undefined>(undefined);

/** Gives the session to the pages behind the guard. */
export const SessionProvider = SessionContext.Provider;

/**
 * Returns the session with which the page was opened, even if it has ended since. @throws outside of the guarded pages
 */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('There is no session.');
  return session;
}

/** Signs out, and drops everything that was read. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return () => signOut(client);
}

async function signOut(client: QueryClient): Promise<void> {
  await call('post', '/auth/sign-out', { body: {} });
  client.clear();
  // Load a new document, so that nothing of the old session stays in memory.
  location.assign('/sign-in');
}
