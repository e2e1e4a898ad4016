import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const routinesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines',
  validateSearch: searchOf('state', 'search'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'RoutinesPage'),
});
