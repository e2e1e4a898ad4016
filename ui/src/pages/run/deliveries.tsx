import { Send } from 'lucide-react';
import { sentence } from '#ui/format/capitalized.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { DELIVERY_REASONS } from '#ui/api/words.ts';
import { plural } from '#ui/format/numbers.ts';
import { humanize } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Dot, StateBadge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';

type Run = Shape<'RunDetail'>;
type Delivery = Shape<'WebhookDelivery'>;

/** Says why the webhook was not called. A routine without a webhook needs no words. */
const WITHHELD: Readonly<Record<string, string>> = {
  no_change: 'The webhook got nothing about this run: the routine delivers changes, and this run found none.',
  not_failed: 'The webhook got nothing about this run: the routine delivers failures only.',
};

/** Lists the deliveries to the routine's webhook with every attempt, or the reason for none. */
export function Deliveries({ run }: { readonly run: Run }) {
  const redeliver = useSend('post', '/v1/runs/{runId}/webhook-deliveries/{deliveryId}/redeliver', {
    refreshes: ['/v1/runs'],
    done: 'Sending again',
  });
  const withheld = run.withheld === null ? undefined : WITHHELD[run.withheld];
  if (run.webhookDeliveries.length === 0 && withheld === undefined) return null;
  return (
    <Section title="Webhook deliveries" description={withheld}>
      {run.webhookDeliveries.length > 0 && (
        <ul className="flex flex-col gap-3">
          {run.webhookDeliveries.map((delivery) => (
            <DeliveryBox
              key={delivery.id}
              run={run}
              title={delivery.eventType}
              delivery={delivery}
              isSending={redeliver.isSending}
              onSend={() => redeliver.send({ path: { runId: run.id, deliveryId: delivery.id } })}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Lists the deliveries of the run to chats, with every attempt. */
export function ChatDeliveries({ run }: { readonly run: Run }) {
  const redeliver = useSend('post', '/v1/runs/{runId}/chat-deliveries/{deliveryId}/redeliver', {
    refreshes: ['/v1/runs'],
    done: 'Sending again',
  });
  if (run.chatDeliveries.length === 0) return null;
  return (
    <Section title="Sent to chats">
      <ul className="flex flex-col gap-3">
        {run.chatDeliveries.map((delivery) => (
          <DeliveryBox
            key={delivery.id}
            run={run}
            title={delivery.chatName ?? 'A chat that is deleted'}
            delivery={delivery}
            isSending={redeliver.isSending}
            onSend={() => redeliver.send({ path: { runId: run.id, deliveryId: delivery.id } })}
          />
        ))}
      </ul>
    </Section>
  );
}

interface DeliveryBoxProps {
  readonly run: Run;
  readonly title: string;
  readonly delivery: Delivery | Shape<'ChatDelivery'>;
  readonly isSending: boolean;
  readonly onSend: () => void;
}

function DeliveryBox({ run, title, delivery, isSending, onSend }: DeliveryBoxProps) {
  const isOpen = delivery.state === 'pending' || delivery.state === 'sending';
  return (
    <li className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2.5">
        <span className="font-mono text-xs text-ink">{title}</span>
        <StateBadge state={delivery.state} />
        <span className="text-sm text-muted">
          {plural(delivery.attempts.length, 'attempt')}
          {delivery.nextAttemptAt !== null && (
            <>
              , next <Time at={delivery.nextAttemptAt} as="countdown" />
            </>
          )}
        </span>
        <Button
          size="sm"
          icon={Send}
          className="ml-auto"
          busy={isSending}
          disabledReason={blockedBy(run, isOpen)}
          onClick={onSend}
        >
          Send again
        </Button>
      </div>
      {delivery.reason !== null && (
        <p className="px-3 pb-2 text-sm text-muted">
          {sentence(DELIVERY_REASONS[delivery.reason] ?? humanize(delivery.reason))}
        </p>
      )}
      {delivery.attempts.length > 0 && (
        <ol className="border-t border-line" aria-label="Attempts">
          {delivery.attempts.map((attempt) => (
            <li key={attempt.index} className="border-b border-line last:border-b-0">
              <Attempt attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

function blockedBy(run: Run, isOpen: boolean): string | undefined {
  if (run.contentErasedAt !== null) return 'The sent content is erased.';
  return isOpen ? 'The delivery is still under way.' : undefined;
}

function Attempt({ attempt }: { attempt: Delivery['attempts'][number] }) {
  const { status, error, responseExcerpt } = attempt;
  const isDelivered = error === null && status !== null && status >= 200 && status < 300;
  const line = (
    <span className="flex min-w-0 grow flex-wrap items-center gap-x-3 gap-y-0.5 text-sm">
      <span className="flex items-center gap-2 text-ink">
        <Dot tone={isDelivered ? 'good' : 'bad'} />
        {status === null ? 'No response' : `Status ${status}`}
      </span>
      {error !== null && <span className="min-w-0 truncate text-muted">{error}</span>}
      <span className="ml-auto text-xs text-faint tabular">
        {attempt.durationMs !== null && `${duration(attempt.durationMs)}, `}
        <Time at={attempt.startedAt} as="relative" />
      </span>
    </span>
  );
  return (
    <Fold summary={line}>
      {error !== null && <p className="text-sm text-ink wrap-anywhere">{error}</p>}
      {responseExcerpt === null || responseExcerpt === '' ? (
        <p className="text-sm text-muted">The response had no text.</p>
      ) : (
        <CodeBlock code={responseExcerpt} label="response" wrap maxHeight="sm" />
      )}
    </Fold>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  failed: 'Mail that the run failed',
  paused: 'Mail that the routine is paused',
  budget: 'Mail that a budget runs out',
  partial: 'Mail that the run succeeded in part',
  recovered: 'Mail that the routine works again',
  held: 'Mail that a call waits',
  question: 'Mail that the run asks a question',
  digest: 'Digest',
  success_ping: 'Ping to the monitor',
  result: 'Mail of the result',
};

/** Lists mails and pings about the run, each with its state. */
export function Notifications({ run }: { readonly run: Shape<'RunDetail'> }) {
  if (run.notifications.length === 0) return null;
  return (
    <Section title="Mails and pings">
      <ul className="rounded-lg border border-line bg-surface">
        {run.notifications.map((each, index) => (
          <li
            key={`${each.kind}-${each.to}-${index}`}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-2 text-sm last:border-b-0"
          >
            <span className="text-ink">{KINDS[each.kind] ?? humanize(each.kind)}</span>
            {/* A held message has no recipient yet. */}
            {each.state !== 'held' && (
              <span className="min-w-0 text-muted wrap-anywhere">{each.to ?? 'no recipient'}</span>
            )}
            <StateBadge state={each.state} />
            <span className="ml-auto text-xs text-faint">
              {each.nextAttemptAt === null || each.attempts === 0 ? (
                <Time at={each.at} as="relative" />
              ) : (
                <>
                  next attempt <Time at={each.nextAttemptAt} as="countdown" />
                </>
              )}
            </span>
            {each.error !== null && <span className="w-full text-xs text-bad-ink wrap-anywhere">{each.error}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
