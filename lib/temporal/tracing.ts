import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { Tracing } from '#lib/tracing/index.ts';
import { TRACE_HEADER } from './names.ts';

/** Makes the start of a workflow a span and hands its id to the workflow in a header. */
export function traceStarts(tracing: Tracing): WorkflowClientInterceptor {
  return {
    startWithDetails(input, next) {
      const { workflowId } = input.options;
      const options = {
        kind: 'producer',
        attributes: {
          'temporal.workflow.type': input.workflowType,
          'temporal.workflow.id': workflowId,
        },
      } as const;
      return tracing.span(`start workflow ${input.workflowType}`, options, ({ traceparent }) =>
        next({
          ...input,
          headers: {
            ...input.headers,
            [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent),
          },
        }),
      );
    },
  };
}
