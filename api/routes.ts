import { healthRoutes, receivePaymentEvent, schedulerTick } from './outside/operations.ts';
import { openSharedLink, submitBusinessLead, readPublicConfig } from './outside/public.ts';
import { completeConnectionSignIn } from './outside/oauth.ts';
import type { Route } from './route.ts';
import { actionRoutes } from './v1/actions/index.ts';
import { apiKeyRoutes } from './v1/api-keys.ts';
import { ciTrustRoutes } from './v1/ci-trusts.ts';
import { assistantRoutes } from './v1/assistants.ts';
import { attentionRoutes } from './v1/attention.ts';
import { auditRoutes } from './v1/audit-events.ts';
import { billingRoutes } from './v1/billing.ts';
import { chatRoutes } from './v1/chats.ts';
import { connectionRoutes } from './v1/connections/index.ts';
import { providerRoutes } from './v1/connections/providers.ts';
import { digestRoutes } from './v1/digests.ts';
import { factsRoutes } from './v1/facts.ts';
import { invitationRoutes } from './v1/invitations.ts';
import { memberRoutes } from './v1/members.ts';
import { modelConnectionRoutes } from './v1/model-connections/index.ts';
import { modelFigureRoutes } from './v1/model-figures.ts';
import { modelTestRoutes } from './v1/model-tests.ts';
import { modelRoutes } from './v1/models.ts';
import { organizationRoutes } from './v1/organizations.ts';
import { questionRoutes } from './v1/questions.ts';
import { resultRoutes } from './v1/results.ts';
import { routineRoutes } from './v1/routines/index.ts';
import { readSeries } from './v1/routines/series.ts';
import { runRoutes } from './v1/runs/index.ts';
import { scheduleRoutes } from './v1/schedules.ts';
import { sessionRoutes } from './v1/sessions.ts';
import { settingsRoutes } from './v1/settings.ts';
import { skillRoutes } from './v1/skills/index.ts';
import { terminalRoutes } from './v1/terminals.ts';
import { toolRoutes } from './v1/tools/index.ts';
import { usageRoutes } from './v1/usage.ts';

/** Every operation of the API, in the order of the documentation. */
export const routes: readonly Route[] = [
  ...modelRoutes,
  ...modelTestRoutes,
  ...modelFigureRoutes,
  ...skillRoutes,
  ...routineRoutes,
  ...factsRoutes,
  ...scheduleRoutes,
  ...toolRoutes,
  ...connectionRoutes,
  ...providerRoutes,
  ...chatRoutes,
  ...modelConnectionRoutes,
  ...resultRoutes,
  readSeries,
  ...attentionRoutes,
  ...digestRoutes,
  ...runRoutes,
  ...actionRoutes,
  ...questionRoutes,
  ...usageRoutes,
  ...organizationRoutes,
  ...settingsRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...apiKeyRoutes,
  ...ciTrustRoutes,
  ...terminalRoutes,
  ...assistantRoutes,
  ...billingRoutes,
  completeConnectionSignIn,
  ...healthRoutes,
  readPublicConfig,
  schedulerTick,
  submitBusinessLead,
  openSharedLink,
  receivePaymentEvent,
];
