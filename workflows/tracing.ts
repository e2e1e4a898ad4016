import type { Payload } from '@temporalio/common';
import {
  defaultPayloadConverter,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { TRACE_HEADER } from '#lib/temporal/names.ts';

/** What the worker's process is told when a traced workflow ends; `spanId` is what its activities had as parent. */
export interface TracingSinks extends Sinks {
  tracing: { ended(span: { parent: string; spanId: string; failed: boolean }): void };
}

const { tracing } = proxySinks<TracingSinks>();

/**
 * Carries a trace from the start of a workflow to its activities. Nothing of OpenTelemetry runs in the sandbox, and
 * without the header, as when tracing is off, nothing happens at all. Headers take no part in replay, so tracing may
 * be switched on and off while workflows are open.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let header: Payload | undefined;
  return {
    inbound: [
      {
        async execute(input, next) {
          const given = input.headers[TRACE_HEADER];
          if (given === undefined) return next(input);
          const parent = defaultPayloadConverter.fromPayload<string>(given);
          // The run's own id: the same in every replay, and no draw from the workflow's random numbers.
          const spanId = workflowInfo().runId.replaceAll('-', '').slice(-16);
          const [version, traceId, , flags] = parent.split('-');
          header = defaultPayloadConverter.toPayload([version, traceId, spanId, flags].join('-'));
          try {
            const result = await next(input);
            tracing.ended({ parent, spanId, failed: false });
            return result;
          } catch (error) {
            tracing.ended({ parent, spanId, failed: true });
            throw error;
          }
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          if (header === undefined) return next(input);
          return next({ ...input, headers: { ...input.headers, [TRACE_HEADER]: header } });
        },
      },
    ],
  };
};
