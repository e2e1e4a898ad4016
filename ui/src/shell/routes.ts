import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { ErrorPage, NotFoundPage } from './error-page.tsx';
import { lazyPage } from './offline.ts';
import { lastProject, requireSession, takeReturnPath } from './last-project.ts';
import { parseSearch, searchOf, stringifySearch } from './search.ts';

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
});

/** Pages of a person who is signed in, whichever project is open. */
export const accountRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'account',
  beforeLoad: ({ context, location }) => requireSession(context.queryClient, location.href),
  component: lazyPage(() => import('./account-layout.tsx'), 'AccountLayout'),
});

/** Pages of one project. The address names the project. */
export const projectRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/p/$projectId',
  component: lazyPage(() => import('./app-shell.tsx'), 'AppShell'),
});

/** Addresses to which mails, providers and the payment processor lead, without a project. */
export const placeRoutes = [
  placeRoute('/', ''),
  placeRoute('/start', '/start'),
  placeRoute('/routines', '/routines'),
  placeRoute('/runs', '/runs'),
  placeRoute('/pricing', '/billing'),
  placeRoute('/settings/billing', '/billing'),
] as const;

function placeRoute<const P extends string>(path: P, place: string) {
  return createRoute({
    getParentRoute: () => rootRoute,
    path,
    beforeLoad: async ({ context, location }) => {
      const projectId = await lastProject(context.queryClient, location.href);
      if (projectId === undefined) throw redirect({ to: '/welcome' });
      throw redirect({ href: `/p/${projectId}${place}${location.searchStr}`, replace: true });
    },
  });
}

/**
 * Routes to which a provider sends the browser back. By then the server has ended the sign-in, and the query has the
 * outcome.
 */
export const returnRoutes = [
  returnRoute('/returned/connection', '/connections'),
  returnRoute('/returned/model-account', '/model-accounts'),
] as const;

function returnRoute<const P extends string>(path: P, place: string) {
  return createRoute({
    getParentRoute: () => rootRoute,
    path,
    beforeLoad: async ({ context, location }) => {
      const projectId = await lastProject(context.queryClient, '/');
      const page = takeReturnPath() ?? `/p/${projectId ?? ''}${place}`;
      const { id, ...failed } = searchOf('id', 'error', 'requestId')(parseSearch(location.searchStr));
      const query = stringifySearch({ connected: id, ...failed });
      throw redirect({ href: `${page}${query}`, replace: true });
    },
  });
}
