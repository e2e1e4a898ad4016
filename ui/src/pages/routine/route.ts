import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const routineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId',
  validateSearch: searchOf('tab'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'RoutinePage'),
});
