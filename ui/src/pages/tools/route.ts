import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const toolsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/tools',
  validateSearch: searchOf('connection'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ToolsPage'),
});
