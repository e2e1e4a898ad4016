import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '#workers/workflow-bundle.ts';

const HISTORIES = path.resolve(import.meta.dirname, 'histories');

export interface Recorded {
  readonly name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a recorded history, as any tool of Temporal's reads it
  readonly history: any;
}

export async function readCorpus(): Promise<Recorded[]> {
  const files = (await readdir(HISTORIES)).filter((file) => file.endsWith('.json'));
  return Promise.all(
    files.toSorted().map(async (file) => ({
      name: path.basename(file, '.json'),
      history: JSON.parse(await readFile(path.join(HISTORIES, file), 'utf8')),
    })),
  );
}

/** Returns a history in the form that is stored: without names of the machine, and without stack traces. */
export function keepable(history: History): Recorded['history'] {
  return JSON.parse(historyToJSON(history), (key, value) => {
    if (key === 'identity') return 'worker';
    if (key === 'stackTrace') return '';
    // Sticky task queues are named after the process and its machine.
    if (key === 'name' && typeof value === 'string' && /^\d+@/.test(value)) return 'sticky';
    return value;
  });
}

export async function record(name: string, history: Recorded['history']): Promise<void> {
  await writeFile(path.join(HISTORIES, `${name}.json`), `${JSON.stringify(history, null, 1)}\n`);
}

/** Returns the path of a workflow: the activities that it scheduled, and other notable events between them. */
export function wayOf({ events }: Recorded['history']): string[] {
  return events.flatMap((event: Recorded['history']) => {
    const type = event.eventType.replace('EVENT_TYPE_', '');
    if (type === 'ACTIVITY_TASK_SCHEDULED') {
      return [event.activityTaskScheduledEventAttributes.activityType.name];
    }
    if (type === 'ACTIVITY_TASK_TIMED_OUT') {
      return [event.activityTaskTimedOutEventAttributes.failure.timeoutFailureInfo.timeoutType];
    }
    return UNREMARKABLE.has(type) ? [] : [type];
  });
}

const UNREMARKABLE = new Set([
  'WORKFLOW_EXECUTION_STARTED',
  'WORKFLOW_TASK_SCHEDULED',
  'WORKFLOW_TASK_STARTED',
  'WORKFLOW_TASK_COMPLETED',
  'ACTIVITY_TASK_STARTED',
  'ACTIVITY_TASK_COMPLETED',
]);

/** Replays histories with the present workflow code; returns the error of each, by name. */
export async function replay(recorded: readonly Recorded[]): Promise<Record<string, string | undefined>> {
  const results = Worker.runReplayHistories(
    { workflowBundle: await workflowBundle() },
    recorded.map(({ name, history }) => ({ workflowId: name, history })),
  );
  const found: Record<string, string | undefined> = {};
  for await (const { workflowId, error } of results) found[workflowId] = error?.name;
  return found;
}
