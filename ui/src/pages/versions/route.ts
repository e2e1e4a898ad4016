import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/versions',
  validateSearch: searchOf('revision'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'VersionsPage'),
});
