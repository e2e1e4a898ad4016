import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';

export const skillsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'skills',
  validateSearch: searchOf('category', 'search'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SkillsPage'),
});

export const skillRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'skills/$skillId',
  component: lazyRouteComponent(() => import('./skill-page.tsx'), 'SkillPage'),
});
