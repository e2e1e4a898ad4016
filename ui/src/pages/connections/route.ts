import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const connectionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections',
  validateSearch: searchOf('connected', 'error', 'requestId'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ConnectionsPage'),
});
