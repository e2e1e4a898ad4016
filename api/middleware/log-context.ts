import type { Context, Next } from 'koa';
import { withLogFields } from '#lib/log.ts';

/** Puts the ids of the request on every line that is logged on its behalf, the project's once it is known. */
export function logContext(ctx: Context, next: Next): Promise<void> {
  const { state } = ctx;
  const fields = {
    requestId: state.requestId as unknown,
    get projectId(): unknown {
      return state.projectId;
    },
    /** Undefined, and so left out, while tracing is off. */
    get traceId(): unknown {
      return state.traceId;
    },
  };
  return withLogFields(fields, next);
}
