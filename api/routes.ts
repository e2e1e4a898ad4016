import { health, ready } from './outside/health.ts';
import { oauthCallback } from './outside/oauth-callback.ts';
import { schedulerTick } from './outside/scheduler-tick.ts';
import type { Route } from './route.ts';
import { deleteApiKey, getApiKeys, postApiKey } from './v1/api-keys.ts';
import {
  getConnections,
  patchConnection,
  postConnection,
  removeConnection,
} from './v1/connections/index.ts';
import {
  getAccounts,
  getProviders,
  postApiKeyConnection,
  startOAuth,
} from './v1/connections/providers.ts';
import { getTools, patchTool, postDiscover } from './v1/connections/tools.ts';
import { listModels } from './v1/models.ts';
import {
  getOrganizations,
  getProjects,
  postOrganization,
  postProject,
} from './v1/organizations.ts';
import {
  activate,
  deleteRoutine,
  getRoutine,
  getRoutines,
  patchRoutineById,
  pause,
  postRoutine,
  postWebhookSecret,
} from './v1/routines/index.ts';
import { getRunEvents } from './v1/runs/events.ts';
import {
  cancelRun,
  getRoutineRuns,
  getRun,
  getRuns,
  postRedeliver,
  postRetry,
  runRoutine,
} from './v1/runs/index.ts';
import { getSkill, getSkills, patchSkill, postSkill, removeSkill } from './v1/skills.ts';

/** Every operation of the API, in the order of the documentation. */
export const routes: readonly Route[] = [
  listModels,
  getSkills,
  postSkill,
  getSkill,
  patchSkill,
  removeSkill,
  getRoutines,
  postRoutine,
  getRoutine,
  patchRoutineById,
  deleteRoutine,
  runRoutine,
  activate,
  pause,
  postWebhookSecret,
  getTools,
  patchTool,
  postDiscover,
  getConnections,
  postConnection,
  patchConnection,
  removeConnection,
  getProviders,
  startOAuth,
  postApiKeyConnection,
  getAccounts,
  getRoutineRuns,
  getRuns,
  getRun,
  getRunEvents,
  cancelRun,
  postRetry,
  postRedeliver,
  getOrganizations,
  postOrganization,
  getProjects,
  postProject,
  getApiKeys,
  postApiKey,
  deleteApiKey,
  oauthCallback,
  health,
  ready,
  schedulerTick,
];
