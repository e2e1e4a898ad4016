import type { Context, Middleware } from 'koa';
import { withLogFields } from '#lib/log.ts';
import type { ClientAddress } from '../http/client-address.ts';

/**
 * Puts on every line that is logged on behalf of a request its ids, the address it comes from, and who sends it; project
 * and sender once they are known.
 */
export function logContext(clientAddress: ClientAddress): Middleware {
  return (ctx: Context, next) => {
    const { state } = ctx;
    const fields = {
      requestId: state.requestId as unknown,
      address: clientAddress(ctx.req),
      get actor(): unknown {
        return state.actor;
      },
      get projectId(): unknown {
        return state.projectId;
      },
      /** Undefined, and so left out, while tracing is off. */
      get traceId(): unknown {
        return state.traceId;
      },
    };
    return withLogFields(fields, next);
  };
}
