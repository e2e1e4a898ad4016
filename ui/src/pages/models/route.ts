import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const modelsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'models',
  validateSearch: searchOf('q'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ModelsPage'),
});
