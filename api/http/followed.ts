import type { Context } from 'koa';
import { stillAllowed, type Watcher } from '#core/identity/index.ts';
import { AppError } from '#lib/errors.ts';
import type { AccessOf, AuthKind } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { SentEvent, StreamInput } from '../route.ts';
import { sendEvents } from './event-stream.ts';

/** Streams that one key or session may have open in this process; no one holds them all. */
const MAX_STREAMS = 20;

const open = new Map<string, number>();

/** Sends events to a caller for as long as they would be let in again. @throws {AppError} `rate_limited` */
export async function followed(
  access: AccessOf<AuthKind>,
  ctx: Context,
  deps: Deps,
  events: (input: StreamInput) => Promise<AsyncIterable<SentEvent> | undefined>,
): Promise<void> {
  if (access === undefined || !('projectId' in access)) throw new AppError('internal_error');
  const { projectId, actor } = access;
  const watcher: Watcher =
    actor.kind === 'key'
      ? { projectId, keyId: actor.keyId }
      : { projectId, sessionId: actor.sessionId, userId: actor.userId };
  takePlace(ctx, actor.kind === 'key' ? actor.keyId : actor.sessionId);
  await sendEvents(ctx, events, {
    mayFollow: () => stillAllowed(deps.database, watcher),
    checkEveryMs: deps.checkFollowersEveryMs,
  });
}

/** Counts the stream until its response is over, whatever ends it. */
function takePlace(ctx: Context, credential: string): void {
  const count = open.get(credential) ?? 0;
  if (count >= MAX_STREAMS) {
    throw new AppError('rate_limited', `At most ${MAX_STREAMS} streams at a time.`, {
      'Retry-After': '60',
    });
  }
  open.set(credential, count + 1);
  ctx.res.once('close', () => {
    const left = (open.get(credential) ?? 1) - 1;
    if (left === 0) open.delete(credential);
    else open.set(credential, left);
  });
}
