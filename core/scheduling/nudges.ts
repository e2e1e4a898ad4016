import { accountKinds, type AccountsCore, type ModelCredentials } from '#core/models/connections/index.ts';
import { digestKind, resultKind } from '#core/upkeep/digests/index.ts';
import { proposals } from '#core/authoring/routines/index.ts';
import { runEndedKind, spendingKind, summaryKind } from '#core/delivery/notifications/index.ts';
import { chatKind } from '#core/delivery/chats/index.ts';
import { startDueDeliveries, type StartDeliveriesDeps } from '#core/delivery/webhooks/index.ts';
import { messageKinds, type MessageDeps } from '#core/foundation/outbox/index.ts';
import { workOff, type Kinds } from '#core/foundation/work/index.ts';
import {
  actionHeldKind,
  actionRunKind,
  startDueActions,
  type StartActionsDeps,
} from '#core/execution/actions/index.ts';
import type { Core, Nudges } from '#core/core.ts';

/**
 * Creates the nudges of a process.
 * @param round does the due work of a name, as `doNow` does
 */
export function createNudges(log: Core['log'], round: (name: string) => Promise<unknown>): Nudges {
  const underWay = new Map<string, Promise<void>>();
  const asked = new Set<string>();

  async function rounds(name: string): Promise<void> {
    try {
      while (asked.delete(name)) await round(name);
    } catch (err) {
      log.warn({ err, work: name }, 'due work is left to the next tick');
    } finally {
      underWay.delete(name);
    }
  }

  return {
    nudge(name) {
      asked.add(name);
      if (!underWay.has(name)) underWay.set(name, Promise.resolve(name).then(rounds));
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

/**
 * Does work after a transaction: starts deliveries and approved actions, settles proposals, or does the due work of a
 * kind.
 */
export function doNow(deps: KindDeps, name: string): Promise<unknown> {
  if (name === 'deliveries') return startDueDeliveries(deps);
  if (name === 'actions') return startDueActions(deps);
  return name === 'proposals' ? proposals.settleProposals(deps) : workOff(deps, kindsOf(deps), name);
}

export type KindDeps = AccountsCore &
  MessageDeps &
  StartDeliveriesDeps &
  StartActionsDeps &
  Parameters<typeof actionRunKind>[0] & { readonly modelCredentials: ModelCredentials };

/** The kinds of due work of this release, by the names in their rows. */
export function kindsOf(deps: KindDeps): Kinds {
  return {
    ...messageKinds(deps),
    run_ended: runEndedKind,
    spending: spendingKind,
    summary: summaryKind,
    digest: digestKind,
    result: resultKind,
    chat: chatKind(deps),
    action_held: actionHeldKind,
    action_run: actionRunKind(deps),
    ...accountKinds(deps),
  };
}
