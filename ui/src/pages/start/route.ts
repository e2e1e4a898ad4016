import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const startRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'start',
  validateSearch: searchOf('template'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'StartPage'),
});
