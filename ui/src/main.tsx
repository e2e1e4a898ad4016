import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/query-client.ts';
import { routeTree } from './pages/routes.ts';
import { ToastProvider } from './parts/toast.tsx';
import { TooltipProvider } from './parts/tooltip.tsx';
import { ErrorPage, NotFoundPage } from './shell/error-page.tsx';
import { parseSearch, stringifySearch } from './shell/search.ts';
import { watchTheme } from './theme/theme.ts';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import './theme/theme.css';

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

watchTheme();
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
