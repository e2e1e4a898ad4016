import { beforeAll, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';

let service: Service;
let key: ApiClient;
let other: ApiClient;

beforeAll(async () => {
  service = await sharedService({ worker: true });
  key = await (await signUp(service)).key();
  other = await (await signUp(service)).key();
});

test(
  'a custom skill is created, read, changed and deleted',
  proves('POST /v1/skills', 'skill.id', 'skill.name', 'skill.description'),
  async () => {
    const created = await key.post('/v1/skills', {
      name: ' House style ',
      instructions: '  Keep {{it}} short, please.  ',
    });
    expect(created.status).toBe(201);
    expect(created.data).toEqual({
      id: expect.stringMatching(/^skl_/),
      slug: null,
      externalKey: null,
      managedBy: null,
      driftedAt: null,
      driftedBy: null,
      managedFrom: null,
      formerly: [],
      name: 'House style',
      description: null,
      category: null,
      version: null,
      needs: [],
      cadence: null,
      check: null,
      suggestedSchedule: null,
      checked: null,
      sourceCount: 0,
      sources: [],
      revision: 1,
      length: 30,
      instructions: '  Keep {{it}} short, please.  ',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const path = `/v1/skills/${created.data.id}`;
    expect((await key.get(path)).data).toEqual({ ...created.data, inUse: [] });
    const changed = await key.patch(path, { description: 'How we write.' });
    expect(changed.data).toMatchObject({ name: 'House style', description: 'How we write.' });
    expect((await key.patch(path, { description: null })).data.description).toBeNull();
    expect((await key.delete(path)).data.id).toBe(created.data.id);
    for (const answer of [await key.get(path), await key.patch(path, { name: 'x' }), await key.delete(path)]) {
      expect(codeOf(answer)).toEqual([404, 'skill_not_found']);
    }
  },
);

test('routines are found by a skill that they have attached, custom or curated', async () => {
  const { data } = await key.post('/v1/skills', {
    name: 'Tone',
    instructions: 'Write as a friend would, without exclamation marks.',
  });
  const one = await createRoutine(key, { skills: [data.id, 'seo-audit'] });
  const two = await createRoutine(key, { skills: ['seo-audit'] });
  const using = async (skill: string) =>
    (await key.get(`/v1/routines?uses=${skill}`)).data.map(({ id }: { id: string }) => id);
  expect(await using(data.id)).toEqual([one]);
  expect(await using('seo-audit')).toEqual([two, one]);
  expect((await other.get(`/v1/routines?uses=${data.id}`)).data).toEqual([]);
});

test('a routine that names a skill by a former slug runs, is found, and is told its text once', async () => {
  const former = await key.get('/v1/skills/popup-review');
  expect(former.data).toMatchObject({
    slug: 'landing-page-review',
    formerly: ['form-and-signup-review', 'popup-review'],
  });
  const id = await createRoutine(key, { skills: ['popup-review', 'landing-page-review'] });
  expect((await key.get(`/v1/routines/${id}`)).data.warnings).not.toContainEqual(
    expect.objectContaining({ code: 'skill_deleted' }),
  );
  const run = await runOnce(key, id);
  expect(run.state).toBe('succeeded');
  expect(run.prompt.split('## Skill: Landing page review')).toHaveLength(2);
  for (const slug of ['popup-review', 'landing-page-review']) {
    const { data } = await key.get(`/v1/routines?uses=${slug}`);
    expect(data.map((routine: { id: string }) => routine.id)).toEqual([id]);
  }
});

test(
  'instructions are 20 to 24,000 characters, on create and on update',
  proves('skill.instructions', 'limit.skill'),
  async () => {
    const save = (length: number) => key.post('/v1/skills', { name: 'x', instructions: 'x'.repeat(length) });
    const { data } = await save(20);
    expect((await save(24_000)).status).toBe(201);
    for (const length of [0, 19, 24_001]) {
      expect(codeOf(await save(length))).toEqual([400, 'invalid_request']);
      const patch = { instructions: 'x'.repeat(length) };
      expect(codeOf(await key.patch(`/v1/skills/${data.id}`, patch))).toEqual([400, 'invalid_request']);
    }
    const named = await key.post('/v1/skills', { name: ' ', instructions: 'x'.repeat(20) });
    expect(named.body.error.message).toContain('name: must not be empty');
  },
);

test(
  'a curated skill is there for every project by its slug, and cannot be changed',
  proves('skill.slug', 'skills.curated'),
  async () => {
    for (const client of [key, other]) {
      const read = await client.get('/v1/skills/core-web-vitals');
      expect(read.data).toMatchObject({ id: null, slug: 'core-web-vitals', createdAt: null });
      expect(read.data.instructions.length).toBe(read.data.length);
      expect(read.data).toMatchObject({
        needs: ['web'],
        cadence: 'weekly',
        check: null,
        suggestedSchedule: '0 7 * * 1',
        checked: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      });
      expect(read.data.sourceCount).toBe(read.data.sources.length);
      expect(read.data.sources[0]).toEqual({
        name: 'web.dev',
        url: 'https://web.dev/articles/vitals',
        backs: expect.any(String),
      });
      expect(
        (await client.post('/v1/routines', routineBody({ skills: ['seo-audit', 'content-strategy'] }))).status,
      ).toBe(201);
    }
    const path = '/v1/skills/seo-audit';
    expect(codeOf(await key.patch(path, { name: 'x' }))).toEqual([404, 'skill_not_found']);
    expect(codeOf(await key.delete(path))).toEqual([404, 'skill_not_found']);
  },
);

test('the catalogue is 49 marketing skills and one of web performance', proves('limit.curated'), async () => {
  const { data } = await other.get('/v1/skills?limit=200');
  const curated = data.filter((skill: { slug: string | null }) => skill.slug !== null);
  expect(curated).toHaveLength(50);
  for (const skill of curated) {
    expect(skill).toMatchObject({
      needs: expect.arrayContaining([expect.any(String)]),
      cadence: expect.stringMatching(/^(?:daily|weekly|monthly|quarterly|on-demand)$/),
      checked: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
    expect(skill.sourceCount).toBeGreaterThan(0);
  }
  const performance = curated.filter((skill: { category: string }) => /performance/.test(skill.category));
  expect(performance.map((skill: { slug: string }) => skill.slug)).toEqual(['core-web-vitals']);
});

test("another project's skill does not exist", proves('skills.project-scoped'), async () => {
  const { data } = await key.post('/v1/skills', { name: 'mine', instructions: 'x'.repeat(20) });
  const path = `/v1/skills/${data.id}`;
  for (const answer of [await other.get(path), await other.patch(path, {}), await other.delete(path)]) {
    expect(codeOf(answer)).toEqual([404, 'skill_not_found']);
  }
  const used = await other.post('/v1/routines', routineBody({ skills: [data.id] }));
  expect(codeOf(used)).toEqual([400, 'invalid_skill']);
  expect((await key.post('/v1/routines', routineBody({ skills: [data.id] }))).status).toBe(201);
});

test(
  'every unknown reference is named with its place, on create and on update, and nothing is written',
  proves('400 invalid_skill', 'skills.resolved-on-save'),
  async () => {
    const skills = ['seo-audit', 'no-such-skill', newId('skill')];
    const created = await key.post('/v1/routines', routineBody({ name: 'unknown skills', skills }));
    expect(codeOf(created)).toEqual([400, 'invalid_skill']);
    expect(created.body.error.message).toContain('skills[1]: ');
    expect(created.body.error.message).toContain('skills[2]: ');
    expect(created.body.error.message).not.toContain('skills[0]: ');
    const id = await createRoutine(key, { skills: ['seo-audit'] });
    const patched = await key.patch(`/v1/routines/${id}`, { skills: ['no-such-skill'] });
    expect(codeOf(patched)).toEqual([400, 'invalid_skill']);
    expect((await key.get(`/v1/routines/${id}`)).data.skills).toEqual(['seo-audit']);
    expect(JSON.stringify((await key.get('/v1/routines')).body)).not.toContain('unknown skills');
  },
);

test('a reference of no length, or too long for a skill, is an unknown one', async () => {
  const id = await createRoutine(key);
  for (const reference of ['', 's'.repeat(81)]) {
    const skills = ['seo-audit', reference];
    for (const answer of [
      await key.post('/v1/routines', routineBody({ skills })),
      await key.patch(`/v1/routines/${id}`, { skills }),
    ]) {
      expect(codeOf(answer)).toEqual([400, 'invalid_skill']);
      expect(answer.body.error.message).toMatch(/^skills\[1\]: no skill has/);
    }
  }
});

test('the same skill twice is refused', async () => {
  const skills = ['seo-audit', 'seo-audit'];
  const answer = await key.post('/v1/routines', routineBody({ skills }));
  expect(codeOf(answer)).toEqual([400, 'invalid_request']);
});

test(
  'a run appends the skills in the order of the routine, verbatim, each under its heading, without the deleted one',
  proves('routine.skills', 'skills.appended', 'skills.verbatim', 'skills.deleted', 'routine.instructions'),
  async () => {
    const make = async (name: string, instructions: string) =>
      (await key.post('/v1/skills', { name, instructions })).data.id as string;
    const verbatim = await make('Verbatim', 'Never fill {{topic}} in here.\n\n## Not a skill: x ');
    const gone = await make('Gone', 'This one is deleted before the run.');
    const last = await make('Last', 'This one comes behind the others.');
    const id = await createRoutine(key, {
      instructions: 'Write about {{topic}} on {{ date }}.',
      variables: { topic: '{{date}} $& tea' },
      skills: [last, gone, verbatim],
    });
    await key.delete(`/v1/skills/${gone}`);
    const run = await runOnce(key, id);
    expect(run.state).toBe('succeeded');
    const date = run.startedAt.slice(0, 10);
    expect(run.prompt).toBe(
      [
        `Write about {{date}} $& tea on ${date}.`,
        '## Skill: Last\n\nThis one comes behind the others.',
        '## Skill: Verbatim\n\nNever fill {{topic}} in here.\n\n## Not a skill: x ',
      ].join('\n\n'),
    );
  },
);

test('a routine whose skill was deleted can be changed only when its list is', async () => {
  const { data } = await key.post('/v1/skills', { name: 'gone', instructions: 'x'.repeat(20) });
  const id = await createRoutine(key, { skills: [data.id, 'seo-audit'] });
  await key.delete(`/v1/skills/${data.id}`);
  const renamed = await key.patch(`/v1/routines/${id}`, { name: 'still usable' });
  expect([renamed.status, renamed.data?.name]).toEqual([200, 'still usable']);
  const again = await key.patch(`/v1/routines/${id}`, { skills: ['seo-audit', data.id] });
  expect(codeOf(again)).toEqual([400, 'invalid_skill']);
});

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error?.code];
}
