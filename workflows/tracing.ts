import type { Payload } from '@temporalio/common';
import {
  defaultPayloadConverter,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { TRACE_HEADER } from '#lib/temporal/names.ts';

/** Sinks that report the end of a traced workflow to the worker. `spanId` is the parent of the activities' spans. */
export interface TracingSinks extends Sinks {
  tracing: { ended(span: { parent: string; spanId: string; failed: boolean }): void };
}

const { tracing } = proxySinks<TracingSinks>();

/**
 * Carries a trace from the start of a workflow to its activities. No part of OpenTelemetry runs in the sandbox. Nothing
 * is traced without the header, which is missing when tracing is off. Replay ignores headers, so tracing may be
 * switched on and off while workflows are open.
 */
// oxlint-disable-next-line eslint-js/no-restricted-syntax -- the SDK's own type of the function gives it its parameters' types
export const interceptors: WorkflowInterceptorsFactory = () => {
  let header: Payload | undefined;
  return {
    inbound: [
      {
        async execute(input, next) {
          const given = input.headers[TRACE_HEADER];
          if (given === undefined) return next(input);
          const parent = defaultPayloadConverter.fromPayload<string>(given);
          // Use Temporal's run id, which is the same in every replay and takes nothing from the workflow's random
          // numbers.
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
