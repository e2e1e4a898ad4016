import { createRoute, redirect } from '@tanstack/react-router';
import { lazyPage } from '#ui/shell/offline.ts';
import { accountRoute, placeRoutes, projectRoute, returnRoutes, rootRoute } from '#ui/shell/routes.ts';
import { searchOf } from '#ui/shell/search.ts';
import { readHomeAhead } from './home/reads.ts';
import { readRunAhead } from './run/read-ahead.ts';

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('to', 'email', 'notice'),
  component: lazyPage(() => import('./sign-in/page.tsx'), 'SignInPage'),
});

const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: searchOf('to'),
  component: lazyPage(() => import('./sign-up/page.tsx'), 'SignUpPage'),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyPage(() => import('./reset-password/page.tsx'), 'ResetPasswordPage'),
});

const invitationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations',
  component: lazyPage(() => import('./invitations/page.tsx'), 'InvitationsPage'),
});

const verifiedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verified',
  validateSearch: searchOf('error', 'email'),
  component: lazyPage(() => import('./verified/page.tsx'), 'VerifiedPage'),
});

const sharedRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared',
  component: lazyPage(() => import('./shared/page.tsx'), 'SharedPage'),
});

/** True in a build for tests, which alone has the gallery of parts. */
declare const __PARTS__: boolean;
const partsRoutes = __PARTS__
  ? [
      createRoute({
        getParentRoute: () => rootRoute,
        path: '/_parts',
        component: lazyPage(() => import('./parts/page.tsx'), 'PartsPage'),
      }),
    ]
  : [];

const welcomeRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/welcome',
  component: lazyPage(() => import('./welcome/page.tsx'), 'WelcomePage'),
});

const deviceRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/device',
  validateSearch: searchOf('user_code'),
  component: lazyPage(() => import('./device/page.tsx'), 'DevicePage'),
});

const authorizeRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/authorize',
  validateSearch: searchOf('request', 'error'),
  component: lazyPage(() => import('./authorize/page.tsx'), 'AuthorizePage'),
});

const homeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  loader({ context, params, cause }) {
    if (cause !== 'preload') readHomeAhead(context.queryClient, params.projectId);
  },
  component: lazyPage(() => import('./home/page.tsx'), 'HomePage'),
});

const inboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'inbox',
  validateSearch: searchOf('action', 'question', 'show'),
  component: lazyPage(() => import('./inbox/page.tsx'), 'InboxPage'),
});

/** The address of one held call, as mails and webhooks name it. */
const actionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'actions/$actionId',
  beforeLoad({ params: { projectId, actionId } }) {
    throw redirect({ to: '/p/$projectId/inbox', params: { projectId }, search: { action: actionId }, replace: true });
  },
});

const startRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'start',
  validateSearch: searchOf('template'),
  component: lazyPage(() => import('./start/page.tsx'), 'StartPage'),
});

const routinesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines',
  validateSearch: searchOf('state', 'search'),
  component: lazyPage(() => import('./routines/page.tsx'), 'RoutinesPage'),
});

const routineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId',
  validateSearch: searchOf('tab'),
  component: lazyPage(() => import('./routine/page.tsx'), 'RoutinePage'),
});

const newRoutineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/new',
  validateSearch: searchOf('skill'),
  component: lazyPage(() => import('./composer/new-page.tsx'), 'NewRoutinePage'),
});

const editRoutineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/edit',
  validateSearch: searchOf('run'),
  component: lazyPage(() => import('./composer/edit-page.tsx'), 'EditRoutinePage'),
});

const versionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/versions',
  validateSearch: searchOf('revision'),
  component: lazyPage(() => import('./versions/page.tsx'), 'VersionsPage'),
});

const toolsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'routines/$routineId/tools',
  validateSearch: searchOf('connection'),
  component: lazyPage(() => import('./tools/page.tsx'), 'ToolsPage'),
});

const runsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'runs',
  validateSearch: searchOf('q', 'routineId', 'state', 'outcome', 'trigger', 'backfillId', 'since', 'until'),
  component: lazyPage(() => import('./runs/page.tsx'), 'RunsPage'),
});

const runRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'runs/$runId',
  validateSearch: searchOf('tab'),
  // Load only the code of a page while the pointer is on a link to it.
  loader({ context, params, cause }) {
    if (cause !== 'preload') readRunAhead(context.queryClient, params);
  },
  component: lazyPage(() => import('./run/page.tsx'), 'RunPage'),
});

const compareRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'runs/$runId/compare',
  validateSearch: searchOf('against'),
  component: lazyPage(() => import('./compare/page.tsx'), 'ComparePage'),
});

const calendarRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'calendar',
  validateSearch: searchOf('week', 'view'),
  component: lazyPage(() => import('./calendar/page.tsx'), 'CalendarPage'),
});

const skillsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'skills',
  validateSearch: searchOf('category', 'search'),
  component: lazyPage(() => import('./skills/page.tsx'), 'SkillsPage'),
});

const skillRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'skills/$skillId',
  component: lazyPage(() => import('./skills/skill-page.tsx'), 'SkillPage'),
});

const returned = searchOf('connected', 'error', 'requestId');

const connectionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections',
  validateSearch: returned,
  component: lazyPage(() => import('./connections/page.tsx'), 'ConnectionsPage'),
});

const connectionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'connections/$connectionId',
  // A sign-in that begins on this page returns to this page.
  validateSearch: returned,
  component: lazyPage(() => import('./connections/connection-page.tsx'), 'ConnectionPage'),
});

const modelsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'models',
  validateSearch: searchOf('q'),
  component: lazyPage(() => import('./models/page.tsx'), 'ModelsPage'),
});

const modelAccountsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'model-accounts',
  validateSearch: returned,
  component: lazyPage(() => import('./model-accounts/page.tsx'), 'ModelAccountsPage'),
});

const apiKeysRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-keys',
  component: lazyPage(() => import('./api-keys/page.tsx'), 'ApiKeysPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'usage',
  validateSearch: searchOf('days', 'by'),
  component: lazyPage(() => import('./usage/page.tsx'), 'UsagePage'),
});

const billingRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'billing',
  validateSearch: searchOf('checkout'),
  component: lazyPage(() => import('./billing/page.tsx'), 'BillingPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: 'settings',
  // Names of the query: `version` is a version of the facts; `action`, `project` and `person` filter the audit log.
  validateSearch: searchOf('tab', 'version', 'action', 'project', 'person'),
  component: lazyPage(() => import('./settings/page.tsx'), 'SettingsPage'),
});

/** Every address of the dashboard with its page, whose code loads when it is opened. */
export const routeTree = rootRoute.addChildren([
  ...placeRoutes,
  ...returnRoutes,
  signInRoute,
  signUpRoute,
  resetPasswordRoute,
  invitationsRoute,
  verifiedRoute,
  sharedRoute,
  ...partsRoutes,
  accountRoute.addChildren([
    welcomeRoute,
    deviceRoute,
    authorizeRoute,
    projectRoute.addChildren([
      homeRoute,
      inboxRoute,
      actionRoute,
      startRoute,
      routinesRoute,
      routineRoute,
      newRoutineRoute,
      editRoutineRoute,
      versionsRoute,
      toolsRoute,
      runsRoute,
      runRoute,
      compareRoute,
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
