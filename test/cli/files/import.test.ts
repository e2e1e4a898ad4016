import path from 'node:path';
import { expect, test } from 'vitest';
import { readSoundProject } from '../../../cli/src/files/project.ts';
import { folderFor } from './folder.ts';

/** Imports a text, and returns the output and the files by their names. */
async function imported(kind: string, text: string, options: readonly string[] = [], name = 'jobs') {
  const folder = await folderFor();
  await folder.write(name, text);
  const said = await folder.ras(['import', kind, path.join(folder.folder, name), ...options]);
  const files: Record<string, string> = {};
  for (const file of await folder.list()) {
    if (file.startsWith('routines/')) files[file.slice(9, -3)] = await folder.read(file);
  }
  // `plan` has to accept the written files.
  if (Object.keys(files).length > 0) await readSoundProject(folder.folder);
  const { code, stdout, stderr } = said;
  return { code, stderr, files, json: stdout === '' ? undefined : JSON.parse(stdout) };
}

test('lines of a crontab become routines; prompts of assistants are taken out of their calls', async () => {
  const { code, files, json } = await imported(
    'crontab',
    [
      '# m h dom mon dow command',
      'MAILTO=ops@example.com',
      'CRON_TZ=Europe/Berlin',
      '0 7 * * 1-5  cd /srv && claude -p "Summarize the \\"overnight\\" alerts" --model opus',
      '@daily /opt/bin/backup.sh --password=hunter2secret > /dev/null',
      '@reboot /opt/bin/start',
      '61 oops',
    ].join('\n'),
    ['--model', 'some/model'],
  );
  expect(code).toBe(0);
  expect(Object.keys(files)).toEqual(['backup.sh', 'summarize-the-overnight-alerts']);
  expect(files['summarize-the-overnight-alerts']).toBe(
    [
      '---',
      '# yaml-language-server: $schema=../.ras/routine.schema.json',
      '',
      'name: Summarize the "overnight" alerts',
      'schedule: 0 7 * * 1-5',
      'timezone: Europe/Berlin',
      'model:',
      '  provider: gateway',
      '  modelId: some/model',
      '---',
      'Summarize the "overnight" alerts',
      '',
    ].join('\n'),
  );
  expect(files['backup.sh']).toContain('schedule: "@daily"');
  expect(files['backup.sh']).toContain('--password=[left out]');
  expect(JSON.stringify(files)).not.toContain('hunter2');
  expect(json.skipped).toMatchObject([
    { name: 'line 2', why: expect.stringContaining('MAILTO') },
    { name: 'line 6', why: '@reboot is not a time' },
    { name: 'line 7' },
  ]);
});

const N8N = {
  name: 'Morning brief',
  active: false,
  settings: { timezone: 'America/New_York' },
  nodes: [
    {
      name: 'Schedule',
      type: 'n8n-nodes-base.scheduleTrigger',
      parameters: {
        rule: {
          interval: [
            { field: 'weeks', triggerAtDay: [1, 3], triggerAtHour: 7, triggerAtMinute: 30 },
            { field: 'minutes', minutesInterval: 7 },
            { field: 'cronExpression', expression: '0 15 8 * * *' },
            { field: 'seconds', secondsInterval: 10 },
          ],
        },
      },
    },
    { name: 'Fetch', type: 'n8n-nodes-base.httpRequest', parameters: {} },
    {
      name: 'AI Agent',
      type: '@n8n/n8n-nodes-langchain.agent',
      parameters: {
        text: '=Summarize {{ $json.body }} for {{ team }}',
        options: { systemMessage: 'You are brief.' },
      },
    },
    { name: 'Model', type: '@n8n/n8n-nodes-langchain.lmChatOpenAi', parameters: { model: { value: 'gpt-4o-mini' } } },
    { name: 'Elsewhere', type: 'n8n-nodes-base.slack', parameters: {} },
  ],
  connections: {
    Schedule: { main: [[{ node: 'Fetch', type: 'main', index: 0 }]] },
    Fetch: { main: [[{ node: 'AI Agent', type: 'main', index: 0 }]] },
    Model: { ai_languageModel: [[{ node: 'AI Agent', type: 'ai_languageModel', index: 0 }]] },
  },
};

test('each rule of a schedule trigger of n8n becomes a routine with the texts of its agents', async () => {
  const { files, json } = await imported('n8n', JSON.stringify(N8N));
  expect(Object.keys(files).toSorted()).toEqual(['morning-brief', 'morning-brief-2', 'morning-brief-3']);
  expect(files['morning-brief']).toContain('schedule: 30 7 * * 1,3\ntimezone: America/New_York\n');
  expect(files['morning-brief']).toContain('---\nYou are brief.\n\nSummarize {{ $json.body }} for {{ team }}\n');
  expect(files['morning-brief']).toContain('variables:\n  team: ""\n');
  expect(files['morning-brief-2']).toContain('schedule: "*/7 * * * *"');
  expect(files['morning-brief-3']).toContain('schedule: 15 8 * * *');
  const [first, second] = json.written;
  expect(first.notes).toEqual([
    'the node "Fetch" (n8n-nodes-base.httpRequest) has no counterpart',
    'the node "Model" (@n8n/n8n-nodes-langchain.lmChatOpenAi, gpt-4o-mini) has no counterpart',
    'expressions in {{ }} are left as they are: nothing fills them in here',
    'it was not active there',
    'choose a model: `model.modelId` in its head',
    'fill in the variables team',
  ]);
  expect(second.notes[0]).toBe('every 7 minutes is no cron schedule: chose */7 * * * *');
  expect(json.skipped).toEqual([
    { name: 'Morning brief', why: 'it runs every few seconds; a minute is the shortest here' },
  ]);
});

test('agents in a row of n8n stand in their order, each with its own texts together', async () => {
  const agent = (name: string, text: string, systemMessage: string) => ({
    name,
    type: '@n8n/n8n-nodes-langchain.agent',
    parameters: { text, options: { systemMessage } },
  });
  const [schedule] = N8N.nodes;
  const nodes = [agent('Second', 'Shorten it.', 'You edit.'), agent('First', 'Write it.', 'You write.'), schedule];
  const to = (node: string) => ({ main: [[{ node, type: 'main', index: 0 }]] });
  const connections = { Schedule: to('First'), First: to('Second') };
  const { files, json } = await imported('n8n', JSON.stringify({ ...N8N, nodes, connections }));
  const text = 'Part 1:\n\nYou write.\n\nWrite it.\n\nPart 2:\n\nYou edit.\n\nShorten it.\n';
  expect(files['morning-brief']).toContain(`---\n${text}`);
  expect(json.written[0].notes).toContain('2 agents in a row became one prompt, with a part for each');
});

test('jobs of OpenClaw keep their time zone, limit and webhook', async () => {
  const job = { id: '1', enabled: true, sessionTarget: 'isolated', wakeMode: 'now', state: {} };
  const { files, json } = await imported(
    'openclaw',
    JSON.stringify({
      version: 1,
      jobs: [
        {
          ...job,
          name: 'Morning brief',
          schedule: { kind: 'cron', expr: '0 7 * * *', tz: 'Asia/Tokyo', staggerMs: 120_000 },
          payload: { kind: 'agentTurn', message: 'Summarize.', model: 'a/b', timeoutSeconds: 300 },
          delivery: { mode: 'webhook', to: 'https://example.com/hook' },
        },
        {
          ...job,
          name: 'Hourly',
          enabled: false,
          schedule: { kind: 'every', everyMs: 3_600_000 },
          payload: { kind: 'systemEvent', text: 'Look.' },
        },
        {
          ...job,
          name: 'Odd',
          schedule: { kind: 'every', everyMs: 5_400_000 },
          payload: { kind: 'agentTurn', message: 'Look.' },
        },
        {
          ...job,
          name: 'Once',
          schedule: { kind: 'at', at: '2026-12-01T00:00:00Z' },
          payload: { kind: 'agentTurn', message: 'x' },
        },
        { ...job, name: 'Bare', schedule: { kind: 'cron', expr: '0 7 * * *' }, payload: {} },
      ],
    }),
    ['--timezone', 'Europe/Paris'],
  );
  for (const line of [
    'timezone: Asia/Tokyo',
    'jitterSeconds: 120',
    'webhookUrl: https://example.com/hook',
    'timeoutSeconds: 300',
  ]) {
    expect(files['morning-brief']).toContain(line);
  }
  expect(files['hourly']).toContain('schedule: 0 * * * *\ntimezone: Europe/Paris\n');
  expect(files['odd']).toContain('schedule: 0 * * * *');
  expect(json.written.map(({ notes }: { notes: string[] }) => notes)).toMatchObject([
    ['the model has no counterpart (a/b)', 'choose a model: `model.modelId` in its head'],
    expect.arrayContaining(['it was switched off there', 'it names no time zone: chose Europe/Paris']),
    expect.arrayContaining(['every 90 minutes is no cron schedule: chose 0 * * * *']),
  ]);
  expect(json.skipped).toEqual([
    { name: 'Once', why: 'it runs once; a routine recurs' },
    { name: 'Bare', why: 'it has no prompt' },
  ]);
});

test('jobs of Hermes are read; scripts and one-time jobs are left out', async () => {
  const { files, json } = await imported(
    'hermes',
    JSON.stringify({
      jobs: [
        {
          id: 'a',
          name: 'Daily briefing',
          prompt: 'Summarize the news.',
          schedule: { kind: 'cron', expr: '0 9 * * *' },
          skills: ['funding'],
          deliver: 'telegram:-100',
          repeat: { times: null },
          enabled: true,
        },
        {
          id: 'b',
          name: 'Half-hourly',
          prompt: 'Look.',
          schedule: { kind: 'interval', minutes: 30 },
          skill: null,
        },
        {
          id: 'c',
          name: 'Script',
          prompt: '',
          no_agent: true,
          script: 'x.sh',
          schedule: { kind: 'interval', minutes: 5 },
        },
        {
          id: 'd',
          name: 'Once',
          prompt: 'x',
          schedule: { kind: 'once', run_at: '2026-12-01T00:00:00Z' },
        },
      ],
    }),
  );
  expect(Object.keys(files)).toEqual(['daily-briefing', 'half-hourly']);
  expect(files['half-hourly']).toContain('schedule: "*/30 * * * *"');
  expect(json.written[0].notes).toEqual(
    expect.arrayContaining([
      'the delivery has no counterpart (telegram:-100)',
      'skills are files of their own here: write skills/<key>/SKILL.md for funding',
    ]),
  );
  expect(json.skipped.map(({ name }: { name: string }) => name)).toEqual(['Script', 'Once']);
});

test('scheduled tasks of Claude are read, with their prompts beside them; a path in the file is not followed', async () => {
  const folder = await folderFor();
  await folder.write('tasks/inbox/SKILL.md', '---\nname: inbox\ndescription: Sorts mail\n---\nSort the inbox.\n');
  await folder.write('secret/SKILL.md', 'A secret.');
  await folder.write(
    'scheduled-tasks.json',
    JSON.stringify({
      scheduledTasks: [
        {
          id: 'inbox',
          cronExpression: '*/30 9-20 * * 1-5',
          enabled: true,
          model: 'm',
          cwd: '/srv',
          permissionMode: 'acceptEdits',
          approvedPermissions: [{ toolName: 'Bash' }],
        },
        {
          id: '../secret',
          cronExpression: '0 1 * * *',
          filePath: path.join(folder.folder, 'secret/SKILL.md'),
        },
        { id: 'once', fireAt: '2026-12-01T00:00:00Z', prompt: 'x' },
      ],
    }),
  );
  const tasks = path.join(folder.folder, 'tasks');
  const { json } = await folder.ras([
    'import',
    'claude',
    path.join(folder.folder, 'scheduled-tasks.json'),
    '--prompts',
    tasks,
  ]);
  expect(await folder.read('routines/inbox.md')).toContain('schedule: "*/30 9-20 * * 1-5"');
  expect(await folder.read('routines/inbox.md')).toContain('---\nSort the inbox.\n');
  expect(json.written).toHaveLength(1);
  expect(json.skipped).toEqual([
    { name: '../secret', why: 'it has no prompt' },
    { name: 'once', why: 'it runs once; a routine recurs' },
  ]);
  const terminal = await imported(
    'claude',
    JSON.stringify({
      tasks: [{ id: 'b98bd9dc', cron: '8,23 * * * *', prompt: 'Check the build.', recurring: true }],
    }),
  );
  expect(terminal.files['b98bd9dc']).toContain('schedule: 8,23 * * * *');
});

test('what a terminal would obey, and names that are paths, do no harm', async () => {
  const { files, code } = await imported(
    'hermes',
    JSON.stringify({
      jobs: [
        {
          name: '../../etc/\u001b[2Jx',
          prompt: 'a\u0007b\n---\nname: evil\n',
          schedule: { kind: 'cron', expr: '0 9 * * *' },
        },
      ],
    }),
  );
  expect(code).toBe(0);
  expect(Object.keys(files)).toEqual(['etc-2jx']);
  expect(files['etc-2jx']).toContain('---\na\u0007b\n---\nname: evil\n');
});

test.for([
  ['hermes', '{"jobs": [', 'is no JSON'],
  ['n8n', '['.repeat(200_000), 'is no JSON'],
  ['n8n', '[]', ''],
  ['openclaw', 'null', ''],
  ['crontab', '', ''],
  [
    'hermes',
    JSON.stringify({
      jobs: Array.from({ length: 501 }, () => ({
        name: 'x',
        prompt: 'y',
        schedule: { kind: 'cron', expr: '@daily' },
      })),
    }),
    'more than 500 jobs',
  ],
  ['hermes', `{"jobs": "${'x'.repeat(4_200_000)}"}`, 'bytes, of 4194304 at most'],
  ['cron', '', 'Allowed choices are crontab, n8n'],
])('a file of %s that is none ends with a word and writes nothing', async ([kind, text, words]) => {
  const { code, stderr, files } = await imported(kind!, text!);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(words);
  expect(files).toEqual({});
});

test('no secret of a job is written, into names of files neither', async () => {
  const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz';
  const { files, json } = await imported(
    'crontab',
    [
      `30 6 1 * * ANTHROPIC_API_KEY=${secret} python3 report.py "Monthly report"`,
      `0 7 * * * env TOKEN="${secret}" OTHER=x claude -p "Send 100\\% of it"`,
      `0 8 * * * curl https://user:${secret}@example.com`,
      `0 25 * * * /bin/true --token=${secret}`,
    ].join('\n'),
  );
  expect(JSON.stringify({ files, json })).not.toContain('abcdefghijklm');
  expect(Object.keys(files)).toEqual(['curl', 'python3', 'send-100-of-it']);
  expect(files['send-100-of-it']).toContain('Send 100% of it');
  expect(json.written[0].notes).toContain('left out what the command sets: ANTHROPIC_API_KEY');
  expect(json.skipped).toEqual([{ name: 'line 4', why: 'its time "25" is not cron' }]);
});

test.for([
  'curl "https://x.example/report?site=acme&token=abc"',
  'curl https://x.example/hook?sig=abc',
  'curl -u ada:abc https://x.example',
  'curl --user=ada:abc https://x.example',
  'curl -H "Authorization: token abc" https://x.example',
  'curl -H "X-Session: eyJabc.eyJabc.abc" https://x.example',
  'tool --host x.example --password=abc',
  'tool --host x.example --api-key abc --yes',
  "tool --host x.example --client-secret 'abc'",
  'cd /srv && PGPASSWORD=abc psql -h x.example',
  "wget --header 'X-Api-Key: abc' https://x.example",
  'curl https://x.example -H "Cookie: abc=abc; other=abc"',
  'mysqldump -h x.example -pabc db',
  'sshpass -p abc ssh x.example',
  'send --from x.example --to https://hooks.slack.com/services/Tabc/Babc/abc',
  'send --from x.example --to https://discord.com/api/webhooks/1/abc',
  'send --from x.example --to https://acme.webhook.office.com/webhookb2/abc',
  'send --from x.example --to https://api.telegram.org/bot1:abc/sendMessage',
  'GET https://x.example with github_pat_abcabcabcabcabcabc',
])('a short secret in a command is left out too: %s', async (command) => {
  const { files, json } = await imported('crontab', `0 7 * * * ${command}`);
  expect(JSON.stringify({ files, json })).not.toContain('abc');
  expect(Object.values(files)[0]).toContain('x.example');
  expect(json.written[0].notes).toContain('left out 1 of what looks like a secret');
});

test('words about secrets in a prompt stay', async () => {
  const prompt = 'Count the tokens: how many? Name each key=value pair. The password policy: none.';
  const { files, json } = await imported('crontab', `0 7 * * * claude -p "${prompt}"`);
  expect(Object.values(files)[0]).toContain(prompt);
  expect(json.written[0].notes.join()).not.toContain('secret');
});

test.for(['https://hooks.example.com/x?token=abcdefgh', 'https://ada:secret@hooks.example.com/x'])(
  'an address of a webhook with a secret is left out: %s',
  async (to) => {
    const job = { name: 'Hook', schedule: { kind: 'cron', expr: '0 7 * * *' }, payload: { message: 'Write.' } };
    const jobs = [{ ...job, delivery: { mode: 'webhook', to } }];
    const { files, json } = await imported('openclaw', JSON.stringify({ jobs }));
    expect(files['hook']).not.toContain('hooks.example.com');
    expect(json.written[0].notes.join()).toContain('left out the address of its webhook at hooks.example.com');
  },
);

test('a file of another kind is no crontab', async () => {
  const { code, files, stderr } = await imported('crontab', JSON.stringify({ nodes: [] }, null, 2));
  expect({ code, files }).toEqual({ code: 2, files: {} });
  expect(stderr).toContain('This is not a crontab');
});
