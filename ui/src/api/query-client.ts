import { MutationCache, QueryCache, QueryClient, type Query } from '@tanstack/react-query';
import { ApiError } from './error.ts';
import { SESSION_KEY } from './session.ts';

const MAX_RETRIES = 2;

/** Creates the cache of the API's responses. */
export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => endSession(error, query) }),
    mutationCache: new MutationCache({ onError: (error) => endSession(error) }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        gcTime: 10 * 60_000,
        retry: (count, error) =>
          count < MAX_RETRIES && error instanceof ApiError && error.isTemporary,
        retryDelay: (count, error) =>
          error instanceof ApiError && error.retryAfterSeconds !== undefined
            ? Math.min(error.retryAfterSeconds, 30) * 1_000
            : 500 * 2 ** count,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  });

  /** Ends the session here when it has ended elsewhere; the guard of the pages then leads to the sign-in. */
  function endSession(error: Error, query?: Query<unknown, unknown>): void {
    if (!(error instanceof ApiError) || error.status !== 401) return;
    if (query?.queryKey[0] === SESSION_KEY[0]) return;
    if (error.code === 'authentication_required' || error.code === 'unauthorized') {
      client.setQueryData(SESSION_KEY, null);
    }
  }

  return client;
}
