import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const verifiedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verified',
  validateSearch: searchOf('error'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'VerifiedPage'),
});
