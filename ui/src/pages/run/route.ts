import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const runRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'runs/$runId',
  validateSearch: searchOf('tab'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'RunPage'),
});
