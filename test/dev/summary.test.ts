import { expect, test } from 'vitest';
import { reportProgress } from '#dev/stack/progress.ts';
import { summary, type SummaryOptions } from '#dev/stack/summary.ts';

const options: SummaryOptions = {
  addresses: {
    dashboard: 'http://localhost:3101',
    api: 'http://localhost:3100',
    temporalUi: null,
    mail: 'http://localhost:8125',
  },
  demo: {
    email: 'demo@example.com',
    password: 'word',
    apiKey: 'ras_key',
    projectId: 'prj_1',
    routineId: 'rtn_1',
    otherRoutineIds: [],
    removed: false,
  },
  models: 'Ollama on this machine, 3 models',
  notes: ['Something is to be done.'],
  payments: false,
  readyAfter: '8 s',
};

function linesToPaste(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('  curl '));
}

test('the summary names the models, what is to be done, and lines that go to these ports', () => {
  const text = summary(options);
  expect(text).toContain('Ollama on this machine, 3 models');
  expect(text).toContain('  Something is to be done.');
  const lines = linesToPaste(text);
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toContain('http://localhost:3100/v1/');
});

test('if keys can write only on a paid plan, every printed line reads, and the start says how to write', () => {
  const text = summary({ ...options, payments: true });
  expect(text).toContain('pay on the page Billing');
  const lines = linesToPaste(text);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toContain('POST');
});

test('without a routine, and without an account, no line is offered that could not work', () => {
  const demo = options.demo && { ...options.demo, routineId: null };
  expect(linesToPaste(summary({ ...options, demo }))).toEqual([
    "  curl -s -H 'Authorization: Bearer ras_key' http://localhost:3100/v1/models",
  ]);
  const without = summary({ ...options, demo: undefined });
  expect(linesToPaste(without)).toEqual([]);
  expect(without).not.toMatch(/undefined|Demo/);
});

test('a start that waits names the parts that are missing, and no others', async () => {
  const lines: string[] = [];
  let heard: () => void;
  const waited = new Promise<void>((resolve) => (heard = resolve));
  const progress = reportProgress(
    (line) => {
      lines.push(line);
      heard();
    },
    { startedAt: Date.now(), quietMs: 10 },
  );
  await progress.during('what is quick', Promise.resolve());
  await expect(progress.during('what fails', Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  const slow = progress.during('Postgres', waited);
  await slow;
  progress.stop();
  expect(lines[0]).toBe('Waiting for Postgres (0 s)');
});
