import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { apiKeysRoute } from './pages/api-keys/route.ts';
import { billingRoute } from './pages/billing/route.ts';
import { calendarRoute } from './pages/calendar/route.ts';
import { editRoutineRoute, newRoutineRoute } from './pages/composer/route.ts';
import { connectionRoute, connectionsRoute } from './pages/connections/route.ts';
import { homeRoute } from './pages/home/route.ts';
import { invitationsRoute } from './pages/invitations/route.ts';
import { modelAccountsRoute } from './pages/model-accounts/route.ts';
import { modelsRoute } from './pages/models/route.ts';
import { partsRoute } from './pages/parts/route.ts';
import { resetPasswordRoute } from './pages/reset-password/route.ts';
import { routineRoute } from './pages/routine/route.ts';
import { routinesRoute } from './pages/routines/route.ts';
import { runRoute } from './pages/run/route.ts';
import { runsRoute } from './pages/runs/route.ts';
import { settingsRoute } from './pages/settings/route.ts';
import { signInRoute } from './pages/sign-in/route.ts';
import { signUpRoute } from './pages/sign-up/route.ts';
import { skillRoute, skillsRoute } from './pages/skills/route.ts';
import { startRoute } from './pages/start/route.ts';
import { toolsRoute } from './pages/tools/route.ts';
import { usageRoute } from './pages/usage/route.ts';
import { verifiedRoute } from './pages/verified/route.ts';
import { versionsRoute } from './pages/versions/route.ts';
import { welcomeRoute } from './pages/welcome/route.ts';
import { ErrorPage } from './shell/error-page.tsx';
import { NotFoundPage } from './shell/not-found.tsx';
import {
  accountRoute,
  placeRoutes,
  projectRoute,
  returnRoutes,
  rootRoute,
} from './shell/routes.ts';
import { parseSearch, stringifySearch } from './shell/search.ts';

const routeTree = rootRoute.addChildren([
  ...placeRoutes,
  ...returnRoutes,
  signInRoute,
  signUpRoute,
  resetPasswordRoute,
  invitationsRoute,
  verifiedRoute,
  partsRoute,
  accountRoute.addChildren([
    welcomeRoute,
    projectRoute.addChildren([
      homeRoute,
      startRoute,
      routinesRoute,
      routineRoute,
      newRoutineRoute,
      editRoutineRoute,
      versionsRoute,
      toolsRoute,
      runsRoute,
      runRoute,
      calendarRoute,
      skillsRoute,
      skillRoute,
      connectionsRoute,
      connectionRoute,
      modelsRoute,
      modelAccountsRoute,
      apiKeysRoute,
      usageRoute,
      billingRoute,
      settingsRoute,
    ]),
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
