import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const runsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'runs',
  validateSearch: searchOf('state', 'outcome', 'trigger', 'backfillId', 'since', 'until'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'RunsPage'),
});
