import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { withLogFields } from '#lib/log.ts';
import { TRACE_HEADER } from '#lib/temporal/index.ts';
import type { Tracing } from '#lib/tracing.ts';
import type { TracingSinks } from '#workflows/tracing.ts';

/** Makes every activity a span, and adds the ids of the workflow to every line that the activity logs. */
export function observeActivities(tracing: Tracing): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      execute(input, next) {
        const { activityType, attempt, priority, workflowType } = info;
        const workflowId = info.workflowExecution?.workflowId;
        const ids = {
          workflowId,
          // A run's workflow has the run's id, and everything done for a project has the project as fairness key.
          ...(workflowType === 'run' ? { runId: workflowId } : {}),
          ...(priority?.fairnessKey === undefined ? {} : { projectId: priority.fairnessKey }),
        };
        const header = input.headers[TRACE_HEADER];
        const options = {
          kind: 'consumer',
          parent: header === undefined ? undefined : defaultPayloadConverter.fromPayload<string>(header),
          attributes: {
            'temporal.activity.attempt': attempt,
            'temporal.workflow.type': workflowType ?? '',
            'temporal.workflow.id': workflowId ?? '',
          },
        } as const;
        return withLogFields({ ...ids, activity: activityType, attempt }, () =>
          tracing.span(`activity ${activityType}`, options, () => next(input)),
        );
      },
    },
  });
}

/** Records the span of a workflow at its end, under the id that its activities named as parent. */
export function workflowSinks(tracing: Tracing): InjectedSinks<TracingSinks> {
  return {
    tracing: {
      ended: {
        callDuringReplay: false,
        fn: (info, { parent, spanId, failed }) =>
          tracing.record({
            name: `workflow ${info.workflowType}`,
            spanId,
            parent,
            failed,
            attributes: { 'temporal.workflow.id': info.workflowId },
            startedAtMs: info.runStartTime.getTime(),
            endedAtMs: Date.now(),
          }),
      },
    },
  };
}
