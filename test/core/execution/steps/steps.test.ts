import { expect } from 'vitest';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { plantToolCalls } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';

const test = serviceTest({ worker: true });

interface StepJson {
  readonly index: number;
  readonly text: string | null;
  readonly tool: { readonly result: string | null; readonly resultLength: number } | null;
}

test('a run with more texts than a response holds shows the first in its detail, and all in pages', async ({
  service,
  key,
  bobsKey,
}) => {
  const routineId = await createRoutine(key);
  const { data } = await key.post(`/v1/routines/${routineId}/run`);
  const run = await runEnded(key, data.id);
  expect(run).toMatchObject({ textsLeftOutFrom: null, steps: [{ index: 0 }] });
  await plantToolCalls(service.deps.database, run.id, { count: 300, textLength: 15_000 });

  const { data: detail } = await key.get(`/v1/runs/${run.id}`);
  const steps = detail.steps as StepJson[];
  const from = detail.textsLeftOutFrom as number;
  expect(steps.map(({ index }) => index)).toEqual(Array.from({ length: 301 }, (_, index) => index));
  expect(from).toBeGreaterThan(200);
  expect(steps[from - 1]!.tool).toMatchObject({ result: expect.any(String) });
  for (const { text, tool } of steps.slice(from)) {
    expect(text).toBeNull();
    expect(tool).toMatchObject({ result: null, resultLength: 15_000 });
  }
  expect(JSON.stringify(steps).length).toBeLessThan(4_500_000);

  const paged: StepJson[] = [];
  let cursor: string | undefined = String(from - 1);
  while (cursor !== undefined) {
    const page = await key.get(`/v1/runs/${run.id}/steps?limit=20&cursor=${cursor}`);
    paged.push(...page.data);
    cursor = page.headers.get('link')?.match(/cursor=(\d+)>/)?.[1];
  }
  expect(paged.map(({ index }) => index)).toEqual(steps.slice(from).map(({ index }) => index));
  expect(paged.every(({ tool }) => tool?.result?.length === 15_000)).toBe(true);
  // The limit of texts ends a page too.
  const { data: first } = await key.get(`/v1/runs/${run.id}/steps?limit=200`);
  expect(first).toHaveLength(200);
  expect((await bobsKey.get(`/v1/runs/${run.id}/steps`)).status).toBe(404);
});
