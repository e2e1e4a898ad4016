import { useQueryClient, useSuspenseQuery, type QueryClient } from '@tanstack/react-query';
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

/**
 * Returns the session; for pages behind the guard.
 * @throws without a sign-in
 */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery());
  if (data === null) throw new Error('There is no session.');
  return data;
}

/** Signs out, and drops everything that was read. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return () => signOut(client);
}

async function signOut(client: QueryClient): Promise<void> {
  await call('post', '/auth/sign-out', { body: {} });
  client.clear();
  // A new document: nothing of the old session is left in memory.
  location.assign('/sign-in');
}
