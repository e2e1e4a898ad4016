import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const usageRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'usage',
  validateSearch: searchOf('days', 'by'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'UsagePage'),
});
