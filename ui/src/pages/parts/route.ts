import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';

export const partsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/_parts',
  component: lazyRouteComponent(() => import('./page.tsx'), 'PartsPage'),
});
