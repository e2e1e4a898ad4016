import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const calendarRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'calendar',
  validateSearch: searchOf('week'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'CalendarPage'),
});
