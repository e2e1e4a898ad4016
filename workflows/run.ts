import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { RunActivities } from '#activities/runs.ts';
import { concludePolicy, modelStepPolicy, toolCallPolicy } from './policies.ts';

export interface RunInput {
  readonly runId: string;
  readonly timeoutSeconds: number;
}

const { concludeRun } = proxyActivities<RunActivities>(concludePolicy);

/**
 * One run: model steps, and between them the tool calls they ask for, until one ends it. The step that ends it also records the end, so that a run which answers at
 * once is a workflow with a single activity; `concludeRun` serves failure, timeout and cancellation only.
 */
export async function run({ runId, timeoutSeconds }: RunInput): Promise<string> {
  const deadline = workflowInfo().runStartTime.getTime() + timeoutSeconds * 1_000;
  try {
    for (let index = 0; ;) {
      const { modelStep } = proxyActivities<RunActivities>(
        modelStepPolicy(remainingMs(deadline), `model step ${index}`),
      );
      const outcome = await modelStep({ runId, index });
      if (outcome.next === 'ended') return outcome.state;
      for (const [offset, name] of outcome.toolCalls.entries()) {
        const { toolCall } = proxyActivities<RunActivities>(
          toolCallPolicy(remainingMs(deadline), `tool ${name}`),
        );
        await toolCall({ runId, index: index + 1 + offset });
      }
      index = outcome.nextIndex;
    }
  } catch (error) {
    const ending = isCancellation(error) ? 'cancelled' : reasonOf(error);
    await CancellationScope.nonCancellable(() => concludeRun({ runId, ending }));
    return ending === 'cancelled' ? 'cancelled' : 'failed';
  }
}

function remainingMs(deadline: number): number {
  return Math.max(deadline - Date.now(), 1);
}

type Reason = Exclude<Parameters<RunActivities['concludeRun']>[0]['ending'], 'cancelled'>;

function reasonOf(error: unknown): Reason {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    return cause.timeoutType === 'SCHEDULE_TO_CLOSE' ? 'timeout' : 'internal_error';
  }
  // Activities fail with a reason of the closed list as their type; anything else is a fault of ours.
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the model's reasons are those of ModelFailure
  return type?.startsWith('model_') === true ? (type as Reason) : 'internal_error';
}
