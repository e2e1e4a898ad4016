import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

const returned = searchOf('connected', 'error', 'requestId');

export const connectionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections',
  validateSearch: returned,
  component: lazyRouteComponent(() => import('./page.tsx'), 'ConnectionsPage'),
});

export const connectionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections/$connectionId',
  // Whoever signs in again from here comes back to here.
  validateSearch: returned,
  component: lazyRouteComponent(() => import('./connection-page.tsx'), 'ConnectionPage'),
});
