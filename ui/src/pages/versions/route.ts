import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';

export const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/versions',
  component: lazyRouteComponent(() => import('./page.tsx'), 'VersionsPage'),
});
