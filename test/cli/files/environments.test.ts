import { expect } from 'vitest';
import { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { environmentOf } from '../terminal.ts';
import { folderFor, type Folder } from './folder.ts';

const test = serviceTest();

/** Two projects of one person, each with its key. */
const own = test.extend('own', async ({ service }) => {
  const person = await signUp(service);
  const { organizationId } = person;
  const made = async (name: string) => {
    const { data } = await person.session.post('/v1/projects', { organizationId, name });
    return { id: String(data.id), key: await keyOf(person.session, data.id) };
  };
  return { staging: await made('Staging'), production: await made('Production') };
});

async function keyOf(session: ApiClient, projectId: string): Promise<ApiClient> {
  const body = { name: 'test', scopes: ['models:read', 'routines:read', 'routines:write'] };
  const { data } = await session.with({ 'X-Project-Id': projectId }).post('/v1/api-keys', body);
  return new ApiClient(session.baseUrl, { Authorization: `Bearer ${data.key}` });
}

async function folderOfBoth(key: ApiClient): Promise<Folder> {
  const folder = await folderFor(key);
  const environments = ['environments:', '  staging: { project: Staging }', '  production: { project: Production }'];
  await folder.write('ras.yaml', ['version: 1', 'name: site', ...environments, ''].join('\n'));
  await folder.routine('a');
  return folder;
}

own(
  'the project of an environment is given by its name, and a key of another one is refused',
  async ({ own: both }) => {
    const { staging, production } = both;
    const folder = await folderOfBoth(staging.key);
    const before = await folder.list();
    const commands = [
      ['plan'],
      ['apply', '--yes'],
      ['apply', '--yes', '--prune-all', '--take-over'],
      ['pull', '--force'],
    ];
    for (const command of commands) {
      const refused = await folder.ras([...command, '--env', 'production']);
      expect(refused, command.join(' ')).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain(
        `These files are for the project "Production", and the API key is for "Staging" (${staging.id}).`,
      );
    }
    expect(await folder.list()).toEqual(before);
    for (const { key } of [staging, production]) expect((await key.get('/v1/routines')).data).toEqual([]);

    expect((await folder.ras(['apply', '--yes', '--env', 'staging'])).code).toBe(0);
    const env = environmentOf(production.key);
    expect((await folder.ras(['apply', '--yes', '--env', 'production'], { env })).code).toBe(0);
    for (const { key } of [staging, production]) expect((await key.get('/v1/routines')).data).toHaveLength(1);
    expect((await folder.ras(['pull', '--env', 'staging'])).code).toBe(0);
  },
);

own('a project is given by its id too, and a name that looks like an id is none', async ({ own: { staging } }) => {
  const folder = await folderFor(staging.key);
  await folder.routine('a');
  await folder.write('ras.yaml', `version: 1\nname: site\nproject: ${staging.id}\n`);
  expect((await folder.ras(['plan'])).code).toBe(0);
  await folder.write('ras.yaml', 'version: 1\nname: site\nproject: staging\n');
  expect((await folder.ras(['plan'])).stderr).toContain('the project "staging", and the API key is for "Staging"');
});

own('a wrong project is said also where files are faulty, and a plan is for one project', async ({ own: both }) => {
  const { staging, production } = both;
  const folder = await folderOfBoth(staging.key);
  const saved = await folder.ras(['plan', '--env', 'staging', '--out', `${folder.folder}/plan.json`]);
  expect(saved.code).toBe(0);
  const env = environmentOf(production.key);
  const elsewhere = await folder.ras(['apply', `${folder.folder}/plan.json`, '--env', 'production'], { env });
  expect(elsewhere.stderr).toContain('This plan was made for another project.');
  await folder.routine('b', { overlap: 'quue' });
  expect((await folder.ras(['plan', '--env', 'production'])).stderr).toContain('the API key is for "Staging"');
});

own('a plan that names no project is for the project of the key that made it', async ({ own: both }) => {
  const { staging, production } = both;
  const folder = await folderFor(staging.key);
  await folder.write('ras.yaml', 'version: 1\nname: site\n');
  await folder.routine('a');
  expect((await folder.ras(['plan', '--out', `${folder.folder}/plan.json`])).code).toBe(0);
  const env = environmentOf(production.key);
  const elsewhere = await folder.ras(['apply', `${folder.folder}/plan.json`], { env });
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('made for another project') });
  expect((await production.key.get('/v1/routines')).data).toEqual([]);
  expect((await folder.ras(['apply', `${folder.folder}/plan.json`])).code).toBe(0);
});

own('without a project in ras.yaml the files go to the project of the key', async ({ own: { production } }) => {
  const folder = await folderFor(production.key);
  await folder.write('ras.yaml', 'version: 1\nname: site\n');
  await folder.routine('a');
  expect((await folder.ras(['apply', '--yes'])).code).toBe(0);
  expect((await production.key.get('/v1/routines')).data).toHaveLength(1);
});
