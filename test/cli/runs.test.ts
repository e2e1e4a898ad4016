import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine } from '#test/support/routines.ts';
import { marker, scriptCalls } from '#test/core/integrations/tools/support.ts';
import { environmentOf, terminal, type TerminalOptions } from './terminal.ts';

const test = serviceTest({ worker: true }).extend('ras', async ({ key }) => {
  const { run } = await as(key);
  return run;
});

async function as(caller: ApiClient) {
  const user = await terminal();
  const env = environmentOf(caller);
  return {
    run: (args: readonly string[], options: TerminalOptions = {}) =>
      user.run(args, { ...options, env: { ...env, ...options.env } }),
  };
}

test('run --wait starts a run, waits for it and writes it as JSON where stdout is piped', async ({ key, ras }) => {
  const id = await createRoutine(key, { name: 'Weekly report' });
  const { code, json, stderr } = await ras(['run', id, '--wait']);
  expect(code).toBe(0);
  expect(json).toMatchObject({ routineId: id, state: 'succeeded', outcome: 'done' });
  const lines = stderr.trim().split('\n');
  expect(stderr).toMatch(/^step 0 · model · fixture\/writer-small · succeeded · .* tokens$/m);
  expect(lines.at(-1)).toMatch(/^succeeded · .* · 1 model step · \d+ tokens.* · run_\w+$/);
  expect(await ras(['routines', 'run', id, '--wait'])).toMatchObject({ code: 0 });
});

test('on a terminal it writes the result as text and draws one line again and again', async ({ key, ras }) => {
  const id = await createRoutine(key);
  const { code, stdout, stderr } = await ras(['run', id, '--wait'], { isTerminal: true });
  expect(code).toBe(0);
  expect(stdout).not.toContain('{');
  expect(stdout.trim().length).toBeGreaterThan(10);
  expect(stderr).toContain('\r\u001B[2K');
  expect(stderr).toContain('\u001B[36m');
  const plain = await ras(['run', id, '--wait'], { isTerminal: true, env: { NO_COLOR: '1' } });
  expect(plain.stderr).not.toContain('\u001B[3');
});

test('run takes values of variables, and says how one is written', async ({ key, ras }) => {
  const id = await createRoutine(key, {
    instructions: 'Report on {{topic}} in {{place}}.',
    variables: { topic: 'tea', place: 'Ceylon' },
    overridable: ['topic', 'place'],
  });
  const { json } = await ras(['run', id, '--var', 'topic=a=b', '--var', 'place=', '--wait']);
  expect(json.variables).toEqual({ topic: 'a=b', place: '' });
  expect(await ras(['run', id, '--var', 'topic'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('name=value'),
  });
  const { json: runs } = await ras(['runs', 'list', '--routine', id]);
  expect(runs).toHaveLength(1);
});

test('the exit code says how the run ended', async ({ key, ras, service }) => {
  const id = await createRoutine(key);
  service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
  const failed = await ras(['run', id, '--wait']);
  expect(failed).toMatchObject({ code: 10, json: { state: 'failed' } });
  expect(failed.stderr).toMatch(/^failed, \w+: /m);

  const release = service.gateway.control.hold();
  let isCancelling = false;
  const cancelled = await ras(['run', id, '--wait'], {
    onWords: (words) => {
      if (isCancelling || !words.includes('running')) return;
      isCancelling = true;
      void ras(['runs', 'cancel', id]);
    },
  });
  release();
  expect(cancelled).toMatchObject({ code: 11, json: { state: 'cancelled' } });
});

test('a run that was skipped exits with 12', async () => {
  const run = {
    id: 'run_1',
    startedAt: null,
    finishedAt: null,
    result: null,
    outcome: null,
    errorMessage: null,
    state: 'skipped',
    reason: 'overlap',
    steps: [],
    stepCount: 0,
    usage: { totalTokens: 0, costUsd: null },
  };
  const server = await startReceiver((request, response) => {
    response.writeHead(request.url?.endsWith('/events') === true ? 204 : 200);
    response.end(JSON.stringify({ data: run }));
  });
  const user = await terminal();
  const env = { RAS_API_URL: server.origin, RAS_API_KEY: 'ras_1' };
  const { code, stderr } = await user.run(['run', 'rtn_1', '--wait'], { env });
  expect(code).toBe(12);
  expect(stderr).toContain('skipped, overlap');
});

test('a run that does not end in time goes on, and the exit code is 124', async ({ key, ras, service }) => {
  const id = await createRoutine(key);
  const release = service.gateway.control.hold();
  const { code, stdout, stderr } = await ras(['run', id, '--timeout', '500ms']);
  expect(code).toBe(124);
  expect(stdout).toBe('');
  const runId = /ras runs logs -f (run_\w+)/.exec(stderr)?.[1] ?? '';
  release();
  await expect.poll(async () => (await ras(['runs', 'get', runId])).json.state).toBe('succeeded');
});

test('Ctrl-C leaves the run alone and says how to go on', async ({ key, ras, service }) => {
  const id = await createRoutine(key);
  const release = service.gateway.control.hold();
  const { code, stderr } = await ras(['run', id, '--wait'], { interruptAt: 'running' });
  expect(code).toBe(130);
  const runId = /ras runs logs -f (run_\w+)/.exec(stderr)?.[1] ?? '';
  expect(stderr).toContain(`ras runs cancel ${runId}`);
  release();
  const logs = await ras(['runs', 'logs', '-f', runId]);
  expect(logs.code).toBe(0);
  const events = logs.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.at(-1)).toMatchObject({ event: 'state', data: { state: 'succeeded' } });
  expect(events.filter(({ event }) => event === 'step')).toHaveLength(1);
});

test('logs -f writes the text of a step on a terminal as it comes, and once', async ({ key, ras, service }) => {
  const id = await createRoutine(key);
  const text = Array.from({ length: 40 }, (_, n) => `Line ${n} says what a page answered, and when.\n`).join('');
  service.gateway.control.script({ behaviour: { kind: 'text', text }, form: { pauseMs: 60 } });
  const { json: run } = await ras(['run', id]);
  const logs = await ras(['runs', 'logs', '-f', run.id], { isTerminal: true });
  const written = logs.stdout.split('\n').filter((line) => line.startsWith('  Line'));
  expect(written).toEqual(
    text
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
  );
  // The line of a step is written when the step has finished, below its text.
  expect(logs.stdout.indexOf('step 0')).toBeGreaterThan(logs.stdout.indexOf('Line 0 '));
  service.gateway.control.reset();
});

test('a time that cannot be read starts nothing', async ({ key, ras }) => {
  const id = await createRoutine(key);
  for (const time of ['soon', '0', '-1', '1d', '999999999999']) {
    expect(await ras(['run', id, '--wait', `--timeout=${time}`])).toMatchObject({ code: 2 });
  }
  expect((await ras(['runs', 'list', '--routine', id])).json).toEqual([]);
});

test('what a model says cannot act on the terminal', async ({ key, ras, service }) => {
  const id = await createRoutine(key, { name: 'Hostile' });
  const text = 'Good\u001B[2J\u001B]0;title\u0007\u009B31m news\u202Egnp.exe\r\nSecond\rline';
  service.gateway.control.script({ behaviour: { kind: 'text', text } });
  const shown = await ras(['run', id, '--wait'], { isTerminal: true });
  expect(shown.stdout).toBe('Good newsgnp.exe\nSecondline\n');
  const piped = await ras(['runs', 'get', 'Hostile', '--json'], { isTerminal: true });
  expect(piped.stdout).not.toMatch(/(?!\n)\p{Cc}|\u202E/u);
  expect(piped.json.result).toBe(text);
  const logs = await ras(['runs', 'logs', 'Hostile'], { isTerminal: true });
  expect(logs.stdout).toContain('\n  Good newsgnp.exe\n  Secondline\n');
});

test('a routine is named by its exact name, and a run by its routine', async ({ ada }) => {
  const key = await ada.key();
  const { run: ras } = await as(key);
  const id = await createRoutine(key, { name: 'Morning mail' });
  expect((await ras(['routines', 'get', 'Morning mail'])).json.id).toBe(id);
  expect(await ras(['runs', 'get', 'Morning mail'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has not run yet'),
  });
  const { json: started } = await ras(['run', 'Morning mail']);
  expect((await ras(['runs', 'get', 'Morning mail'])).json.id).toBe(started.id);

  const twin = await createRoutine(key, { name: 'Morning mail' });
  const ambiguous = await ras(['run', 'Morning mail']);
  expect(ambiguous.code).toBe(2);
  for (const each of [id, twin]) expect(ambiguous.stderr).toContain(each);
});

test('what is not there is answered with the nearest there is', async ({ ada }) => {
  const key = await ada.key();
  const { run: ras } = await as(key);
  const id = await createRoutine(key, { name: 'Inbox digest' });
  const mistyped = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  const unknown = [
    [['run', 'Inbox digset'], 'Did you mean "Inbox digest"?'],
    [['routines', 'get', mistyped], `Did you mean "${id}"?`],
    [['routines', 'versions', mistyped], `Did you mean "${id}"?`],
    [['runs', 'list', '--routine', mistyped], `Did you mean "${id}"?`],
    [['runs', 'get', 'Something else'], 'ras routines list shows them.'],
    [['runs', 'cancel', 'run_none'], 'ras runs list shows them.'],
  ] as const;
  for (const [args, hint] of unknown) {
    expect(await ras(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(hint),
    });
  }
});

test('an archived routine leaves its name to the one that has it now', async ({ ada }) => {
  const key = await ada.key();
  const { run: ras } = await as(key);
  const former = await createRoutine(key, { name: 'Renewed' });
  await ras(['routines', 'archive', former, '--yes']);
  expect((await ras(['routines', 'get', 'Renewed'])).json.id).toBe(former);
  const now = await createRoutine(key, { name: 'Renewed' });
  expect((await ras(['routines', 'get', 'Renewed'])).json.id).toBe(now);
});

test('a run is repeated, also with --wait', async ({ key, ras }) => {
  const id = await createRoutine(key);
  const { json: first } = await ras(['run', id, '--wait']);
  const { code, json } = await ras(['runs', 'retry', first.id, '--wait']);
  expect(code).toBe(0);
  expect(json).toMatchObject({ state: 'succeeded', retryOf: first.id });
  const refused = await ras(['runs', 'cancel', first.id]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\(run_not_cancellable, /),
  });
});

test('a rehearsal says what it would have done, and a question is listed, shown and answered', async ({
  key,
  ras,
  service,
}) => {
  const mark = marker();
  const id = await createRoutine(key, { name: 'Asks in a terminal', instructions: mark, mayAsk: true });
  const asks = () =>
    scriptCalls(service, mark, { name: 'ask', arguments: { question: 'Which market?', choices: ['Japan', 'Chile'] } });
  asks();
  const rehearsed = await ras(['run', id, '--rehearse', '--wait'], { isTerminal: true });
  expect(rehearsed.code).toBe(0);
  expect(rehearsed.stderr).toContain('Would have called ask {"choices":["Japan","Chile"],"question":"Which market?"}');
  expect((await ras(['questions', 'list', '--routine', id])).json).toEqual([]);
  asks();
  await ras(['run', id, '--wait']);
  const { stdout } = await ras(['questions', 'list', '--state', 'open', '--routine', 'Asks in a terminal'], {
    isTerminal: true,
  });
  const [, question = ''] = /(qst_\w+) .*Which market\?/.exec(stdout) ?? [];
  const shown = await ras(['questions', 'show', question], { isTerminal: true });
  expect(shown.stdout).toMatch(/Choices +Japan \| Chile/);
  expect((await ras(['questions', 'answer', question, 'Japan'])).json).toMatchObject({ state: 'answered' });
  const late = await ras(['questions', 'answer', question, 'Chile']);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('The question is answered')]);
});
