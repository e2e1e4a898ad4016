import { readFile, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderHeadSchemas, HEADS_FILE } from '../../../cli/generate/main.ts';
import { FaultyFiles } from '../../../cli/src/files/faults.ts';
import { readProject, readSoundProject } from '../../../cli/src/files/project.ts';
import { folderFor, type Folder } from './folder.ts';

/** Returns the faults that reading a folder reports. */
async function faultsIn(folder: Folder): Promise<string[]> {
  const error = await readSoundProject(folder.folder).catch((each: unknown) => each);
  if (!(error instanceof FaultyFiles)) throw new Error('no fault', { cause: error });
  return error.message.split('\n');
}

async function faultsOf(text: string | Buffer): Promise<string[]> {
  const folder = await folderFor();
  await folder.write('routines/weekly.md', text);
  return faultsIn(folder);
}

const HEAD = ['---', 'name: Weekly', 'schedule: 0 7 * * 1', 'model: { provider: gateway, modelId: some/model }'];

function withHead(...lines: string[]): string {
  return [...HEAD, ...lines, '---', 'Write one line.', ''].join('\n');
}

test('the schemas of the heads are those of the API', async () => {
  expect(await readFile(HEADS_FILE, 'utf8')).toBe(renderHeadSchemas());
});

test('an unknown field is named with its place and the nearest name', async () => {
  const lines = [...HEAD, 'limits:', '  maxSteps: 3', '  timeoutSecond: 60', 'shedule: x'];
  expect(await faultsOf([...lines, '---', 'Text.', ''].join('\n'))).toEqual([
    'routines/weekly.md:7:3: unknown field "timeoutSecond", did you mean "timeoutSeconds"?',
    'routines/weekly.md:8:1: unknown field "shedule", did you mean "schedule"?',
  ]);
});

test('a number that would be rounded has to stand in quotes', async () => {
  const gate = ['gate:', '  tool:', '    policyId: pol_1', '    arguments: { order: 1234567890123456789, price: 0.5 }'];
  expect((await faultsOf(withHead(...gate)))[0]).toBe(
    'routines/weekly.md:8:25: a number has more than 15 digits: write it in quotes',
  );
});

test('all faults of all files are listed together, and ras exits with 1', async () => {
  const folder = await folderFor();
  await folder.write('routines/a.md', withHead('overlap: quue', 'pauseAfterFailures: 0'));
  await folder.write('routines/b.md', '---\nname: B\n---\nText.\n');
  await folder.write('skills/style/SKILL.md', '---\nname: Style\n---\nShort.\n');
  const { code, stderr, stdout } = await folder.ras(['plan', '--exit-code']);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain('Error: 5 things to mend');
  for (const line of [
    'skills/style/SKILL.md: the text below the head is too short: at least 20 characters',
    'routines/a.md:5:10: overlap: "quue" is none of skip, queue, cancel_previous, allow, did you mean "queue"?',
    'routines/a.md:6:21: pauseAfterFailures: is below 1',
    'routines/b.md:2:1: the field "schedule" is missing',
    'routines/b.md:2:1: the field "model" is missing',
  ]) {
    expect(stderr).toContain(line);
  }
});

test.for([
  ['a byte order mark', `\uFEFF${withHead()}`, 'weekly.md:1:1: begins with a byte order mark'],
  ['Windows line ends', withHead().replaceAll('\n', '\r\n'), 'weekly.md:1:4: has Windows line ends'],
  ['a Windows line end in the head', withHead('overlap: skip\r'), 'weekly.md:5: has Windows line ends'],
  ['no head', 'Write one line.\n', 'weekly.md:1:1: has no head'],
  ['an empty file', '', 'weekly.md:1:1: has no head'],
  ['a head that is not closed', HEAD.join('\n'), 'weekly.md:1:1: its head is not closed'],
  ['a tab', withHead('limits:', '\tmaxSteps: 3'), 'weekly.md:6:1: is indented by a tab'],
  ['the same field twice', withHead('name: Other'), 'weekly.md:5:1: the field "name" appears twice'],
  ['an anchor', withHead('variables: &a { x: y }'), 'anchors and aliases'],
  ['an alias', withHead('skills: *a'), 'anchors and aliases'],
  ['a tag', withHead('variables: !!binary aGVsbG8='), 'tags (!) are not supported'],
  ['a number that JSON has not', withHead('jitterSeconds: .inf'), 'JSON has no such number'],
  ['a list for a head', '---\n- a\n---\nText.\n', 'has to be fields'],
  ['a day for a time', withHead('startsAt: 2026-12-01'), '5:11: startsAt: is no time such as 2026-12-01T08:00:00Z'],
  ['a time of last century', withHead('endsAt: 1999-12-01T08:00:00Z'), '5:9: endsAt: is no time such as'],
  ['a day that no month has', withHead('skipDates: [2026-02-30]'), 'skipDates.0: is no date such as 2026-12-24'],
  ['a name of two lines', withHead('description: x').replace('Weekly', '"a\\nb"'), 'must be one line with visible'],
  ['no text', `${HEAD.join('\n')}\n---\n`, 'the text below the head is too short'],
  ['a NUL', withHead() + '\0', 'the text has a NUL'],
  ['bytes that are no UTF-8', Buffer.from([0x2d, 0xff, 0xfe]), 'is not UTF-8'],
  ['a file that is too large', Buffer.alloc(1_048_577, 0x61), 'has 1048577 bytes, of 1048576 at most'],
  ['a text that is too long', `${withHead()}${'a'.repeat(100_001)}`, 'at most 100000 are allowed'],
  ['instructions in the head', withHead('instructions: x'), 'the instructions are the text below the head'],
  ['a check of no type', withHead('checks: [{ type: result_match }]'), 'its type is none of'],
  ['a gate with both', withHead('gate: { url: a, tool: { policyId: b } }'), 'gate'],
  ['a wrong type', withHead('schedule: 7'), 'schedule'],
  ['variables that are no text', withHead('variables: { x: 1 }'), 'variables.x: has to be text, not a number'],
  ['a variable of the service', withHead('variables: { now: x }'), 'this name is built in'],
])('%s is told', async ([, text, fault]) => {
  expect((await faultsOf(text as string)).join('\n')).toContain(fault as string);
});

test('what would take a parser minutes is refused at once', async () => {
  const deep = await faultsOf(withHead(`variables: ${'['.repeat(100_000)}`));
  expect(deep).toEqual([expect.stringContaining('is nested too deeply')]);
  const names = Array.from({ length: 30_000 }, (_, at) => `k${at}: 1`);
  expect((await faultsOf(withHead(...names))).length).toBe(20);
  const bomb = ['a: &a [x, x]', 'b: &b [*a, *a]', 'c: &c [*b, *b]', 'd: [*c, *c]'];
  expect((await faultsOf(withHead(...bomb))).join('\n')).toContain('anchors and aliases');
});

test('names that are no keys, other files and folders without a skill are told', async () => {
  const folder = await folderFor();
  await folder.write('routines/Weekly Report.md', withHead());
  await folder.write('routines/notes.txt', 'x');
  await folder.write('routines/.hidden', 'x');
  await folder.write('skills/Style/SKILL.md', '---\nname: A\n---\nWrite short sentences, please.\n');
  await folder.write('skills/empty/notes.md', 'x');
  expect(await faultsIn(folder)).toEqual([
    expect.stringMatching(/^skills\/Style\/SKILL\.md: "Style" is not a key: .*try "style"$/),
    'skills/empty/notes.md: only SKILL.md is read; the service keeps one text for a skill',
    'skills/empty: has no SKILL.md',
    expect.stringMatching(/^routines\/Weekly Report\.md: .*try "weekly-report"$/),
    'routines/notes.txt: is no .md file',
  ]);
});

test('a link that leads out of the folder is refused, and one inside is read', async () => {
  const folder = await folderFor();
  const outside = await folderFor();
  await outside.write('secret.md', withHead());
  await folder.write('routines/a.md', withHead());
  await symlink('a.md', path.join(folder.folder, 'routines/b.md'));
  expect((await readProject(folder.folder)).items.map(({ key }) => key)).toEqual(['a', 'b']);
  await symlink(path.join(outside.folder, 'secret.md'), path.join(folder.folder, 'routines/c.md'));
  expect(await faultsIn(folder)).toEqual(['routines/c.md: is a link that leads out of the folder']);
});

test('ras.yaml is checked, and its defaults stand in for fields', async () => {
  const folder = await folderFor();
  await folder.write('routines/a.md', '---\nname: A\nschedule: "@daily"\n---\nText.\n');
  await folder.write('ras.yaml', 'version: 2\ndefaults: { modl: x }\nprojekt: prj_1\n');
  expect(await faultsIn(folder)).toEqual([
    'ras.yaml:1:10: version: is above 1',
    'ras.yaml:2:13: unknown field "modl", did you mean "model"?',
    'ras.yaml:3:1: unknown field "projekt", did you mean "project"?',
    'routines/a.md:2:1: the field "model" is missing',
  ]);
  const model = '{ provider: gateway, modelId: some/model }';
  await folder.write('ras.yaml', `version: 1\ndefaults: { model: ${model} }\n`);
  expect((await readProject(folder.folder)).items).toHaveLength(1);
});

test('without ras.yaml it says how to begin', async () => {
  const folder = await folderFor();
  await rm(path.join(folder.folder, 'ras.yaml'));
  const { code, stderr } = await folder.ras(['plan', '--exit-code']);
  expect(code).toBe(1);
  expect(stderr).toContain('ras init');
});

test('init writes once, and a second time keeps what is there', async () => {
  const folder = await folderFor();
  expect(await folder.list()).toEqual([
    '.gitattributes',
    '.ras/ras.schema.json',
    '.ras/routine.schema.json',
    '.ras/skill.schema.json',
    'ras.yaml',
  ]);
  await folder.write('ras.yaml', 'version: 1\n');
  await folder.write('.gitattributes', '*.png binary');
  expect((await folder.ras(['init'])).json).toEqual({ written: ['.gitattributes'] });
  expect(await folder.read('.gitattributes')).toBe('*.png binary\nroutines/** -text\nskills/** -text\n');
  expect(await folder.read('ras.yaml')).toBe('version: 1\n');
});

test('a file that cannot be read or written is named, with the reason in words', async () => {
  const folder = await folderFor();
  const missing = await folder.ras(['import', 'crontab', path.join(folder.folder, 'jobs.cron')]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('jobs.cron: there is no such file.') });
  await folder.write('file', '');
  const through = await folder.ras(['import', 'crontab', path.join(folder.folder, 'file/jobs.cron')]);
  expect(through.stderr).toContain('file/jobs.cron: its path leads through a file.');
});
