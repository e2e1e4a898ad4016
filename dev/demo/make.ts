import { z } from 'zod';
import type { DemoModel } from '../stack/models/find.ts';
import type { Call } from './account.ts';
import { CONNECTION_NAME, type MadeRoutine, type PastRun } from './history.ts';
import { DEMO_ROUTINES } from './routines.ts';
import { READ_PAGE, type DemoRoutine } from './written.ts';

/**
 * The fixture's own model. If this model is found, there is no real one, and each routine uses its own fixture model.
 */
export const FIXTURE_MODEL = 'fixture/writer-small';

const modelList = z.array(
  z.object({
    provider: z.string(),
    connectionId: z.string().nullable(),
    modelId: z.string(),
    prices: z.object({ input: z.string(), output: z.string(), cachedInput: z.string().nullable() }).nullable(),
  }),
);
export type Model = z.output<typeof modelList>[number];

/** Chooses the model of each routine: the model that was found, else the routine's fixture model. */
export async function modelsFor(call: Call, { modelIds }: DemoModel): Promise<(demo: DemoRoutine) => Model> {
  const models = modelList.parse(await call('GET', '/v1/models'));
  return ({ fixtureModel }) => {
    const wanted = modelIds.includes(FIXTURE_MODEL) ? [fixtureModel] : modelIds;
    const chosen = models.find(({ modelId }) => wanted.includes(modelId)) ?? models[0];
    if (chosen === undefined) throw new Error('There is no model.');
    return chosen;
  };
}

const withId = z.object({ id: z.string() });
const preview = z.object({
  prompt: z.string(),
  briefing: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      connectionId: z.string().nullable(),
      policyId: z.string().nullable(),
    }),
  ),
});

/** Makes the routines through the API, as a person would, each with the tool that reads pages. */
export async function makeRoutines(
  call: Call,
  toolServer: string,
  modelOf: (demo: DemoRoutine) => Model,
): Promise<readonly MadeRoutine[]> {
  const connection = withId.parse(await call('POST', '/v1/connections', { name: CONNECTION_NAME, url: toolServer }));
  const made: { id: string; demo: DemoRoutine; model: Model }[] = [];
  // Make the routines one after the other, because lists are in the order of ids.
  for (const demo of DEMO_ROUTINES) {
    const model = modelOf(demo);
    const { provider, connectionId, modelId } = model;
    const body = { ...demo.body, model: { provider, connectionId, modelId } };
    made.push({ ...withId.parse(await call('POST', '/v1/routines', body)), demo, model });
  }
  return Promise.all(
    made.map(async (routine) => {
      const path = `/v1/routines/${routine.id}`;
      await giveTool(call, path, connection.id);
      const { prompt, briefing, tools } = preview.parse(await call('POST', `${path}/preview`, {}));
      const tool = tools.find(({ policyId }) => policyId !== null);
      if (tool?.policyId == null) throw new Error(`The demo has no tool ${READ_PAGE}.`);
      const { name, policyId } = tool;
      return {
        ...routine,
        prompt,
        briefing,
        tool: { name, connectionId: connection.id, policyId },
      };
    }),
  );
}

const policyList = z.array(z.object({ id: z.string(), name: z.string() }));

/** Discovers the tools of a connection for a routine, and confirms the one that reads pages. */
async function giveTool(call: Call, path: string, connectionId: string): Promise<void> {
  await call('POST', `${path}/connections/${connectionId}/discover`);
  const policies = policyList.parse(await call('GET', `${path}/tools`));
  const policy = policies.find(({ name }) => name === READ_PAGE);
  if (policy === undefined) throw new Error(`The demo tool server has no tool ${READ_PAGE}.`);
  await call('PATCH', `${path}/tools/${policy.id}`, { confirmAutomaticExecution: true });
}

/**
 * Marks results as read, as a person would who reads them each morning: all but the latest of the frequent routines.
 */
export async function markEarlierRead(
  call: Call,
  routines: readonly MadeRoutine[],
  past: ReadonlyMap<string, readonly PastRun[]>,
): Promise<void> {
  const unread = new Set(
    routines.flatMap(({ id, demo }) => {
      const runs = past.get(id) ?? [];
      return runs.slice(runs.length - demo.unread);
    }),
  );
  const oldest = Math.min(...[...unread].map(({ finished_at: at }) => at.getTime()));
  const later = [...past.values()].flat().filter((run) => run.finished_at.getTime() >= oldest && !unread.has(run));
  await call('POST', '/v1/results/read', {
    until: new Date(oldest - 1).toISOString(),
    runIds: later.map(({ id }) => id),
  });
}
