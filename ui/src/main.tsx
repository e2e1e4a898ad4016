import { CSPProvider } from '@base-ui/react/csp-provider';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider, type Query } from '@tanstack/react-query';
import { createRouter, RouterProvider, type AnyRoute, type AnyRouteMatch } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/error.ts';
import { SESSION_KEY } from './api/session.ts';
import { routeTree } from './pages/routes.ts';
import { ToastProvider } from './parts/toast.tsx';
import { TooltipProvider } from './parts/tooltip.tsx';
import { ErrorPage, NotFoundPage } from './shell/error-page.tsx';
import { parseSearch, stringifySearch } from './shell/search.ts';
import { watchConnection } from './shell/offline.ts';
import { surviveTranslators } from './shell/translated-page.ts';
import { watchTheme } from './theme/theme.ts';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import './theme/theme.css';

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

watchTheme();
watchConnection();
surviveTranslators();
const queryClient = createQueryClient();
const router = createRouter({
  routeTree,
  context: { queryClient },
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ErrorPage,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});
// Load the code of the page while the session is being requested.
const routes: Readonly<Record<string, AnyRoute>> = router.routesById;
const matches: readonly AnyRouteMatch[] = router.matchRoutes(router.latestLocation);
for (const { routeId } of matches) {
  const route = routes[String(routeId)];
  if (route !== undefined) void router.loadRouteChunk(route);
}
const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no root.');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </TooltipProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);

/** Creates the cache of the API's responses. */
function createQueryClient(): QueryClient {
  const maxRetries = 2;
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, query) => endSession(error, query) }),
    mutationCache: new MutationCache({ onError: (error) => endSession(error) }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        gcTime: 10 * 60_000,
        retry: (count, error) => count < maxRetries && error instanceof ApiError && error.isTemporary,
        retryDelay: (count, error) =>
          error instanceof ApiError && error.retryAfterSeconds !== undefined
            ? Math.min(error.retryAfterSeconds, 30) * 1_000
            : 500 * 2 ** count,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  });

  /** Ends the session here when it has ended elsewhere; the sign-in then covers the page. */
  function endSession(error: Error, query?: Query<unknown, unknown>): void {
    if (!(error instanceof ApiError) || error.status !== 401) return;
    if (query?.queryKey[0] === SESSION_KEY[0]) return;
    if (error.code === 'authentication_required' || error.code === 'unauthorized') {
      client.setQueryData(SESSION_KEY, null);
    }
  }

  return client;
}
