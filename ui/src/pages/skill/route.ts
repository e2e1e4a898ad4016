import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { projectRoute } from '#ui/shell/routes.ts';

export const skillRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'skills/$skillId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'SkillPage'),
});
