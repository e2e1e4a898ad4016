import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import type { Person } from '#test/support/people.ts';
import { runOnce } from '#test/support/routines.ts';
import { routineWith } from '#test/core/integrations/tools/support.ts';
import { dashboardTest } from './fixtures.ts';

/** Ids of the resources on the pages. */
interface Made {
  readonly routineId: string;
  readonly connectionId: string;
  readonly runId: string;
  readonly otherRunId: string;
  readonly skillId: string;
}

/** Makes tests whose person has some content on every page. */
export function filledTest() {
  return (
    dashboardTest()
      .extend('key', { scope: 'file' }, ({ person }) => person.key())
      /** Makes a routine with a tool, a variable, a skill and a run, so that no page is empty. */
      .extend('made', { scope: 'file' }, async ({ key }, { onCleanup }): Promise<Made> => {
        const tools = await startHostileTools();
        onCleanup(() => tools.stop());
        const { routineId, connectionId } = await routineWith(key, ['lookup'], {
          connection: { url: tools.url('honest') },
          routine: {
            name: 'Weekly audit',
            instructions: 'Look at {{site}}.',
            variables: { site: 'example.com' },
            skills: ['seo-audit'],
            checks: [{ type: 'result_not_empty' }],
          },
        });
        const other = await runOnce(key, routineId);
        const run = await runOnce(key, routineId);
        const { data: skill } = await key.post('/v1/skills', {
          name: 'House style',
          instructions: 'Write as we do: short, exact, with the next step.',
        });
        return { routineId, connectionId, runId: run.id, otherRunId: other.id, skillId: skill.id };
      })
  );
}

/** Lists every page that a signed-in person can open. */
export function pathsOf({ projectId }: Person, made: Made): string[] {
  const { routineId, connectionId, runId, otherRunId, skillId } = made;
  const routine = `routines/${routineId}`;
  const inside = [
    '',
    'start',
    'routines',
    routine,
    `${routine}?tab=runs`,
    `${routine}?tab=tools`,
    `${routine}?tab=preview`,
    `${routine}/edit`,
    'routines/new',
    `${routine}/versions`,
    `${routine}/tools`,
    'runs',
    `runs/${runId}`,
    `runs/${runId}/compare?against=${otherRunId}`,
    'calendar',
    'skills',
    'skills/seo-audit',
    `skills/${skillId}`,
    'connections',
    `connections/${connectionId}`,
    'model-accounts',
    'api-keys',
    'usage',
    'billing',
    ...['organization', 'members', 'projects', 'notifications', 'account', 'audit'].map((tab) => `settings?tab=${tab}`),
  ].map((path) => `/p/${projectId}/${path}`);
  return [...inside, '/_parts'];
}
