import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const newRoutineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/new',
  validateSearch: searchOf('skill'),
  component: lazyRouteComponent(() => import('./new-page.tsx'), 'NewRoutinePage'),
});

export const editRoutineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/edit',
  validateSearch: searchOf('run'),
  component: lazyRouteComponent(() => import('./edit-page.tsx'), 'EditRoutinePage'),
});
