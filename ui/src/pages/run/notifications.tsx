import type { Shape } from '#ui/api/types.ts';
import { humanize } from '#ui/format/run-words.ts';
import { Section } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';

const KINDS: Readonly<Record<string, string>> = {
  failed: 'Mail that it failed',
  paused: 'Mail that the routine is paused',
  budget: 'Mail that a budget runs out',
  partial: 'Mail that it was done in part',
  recovered: 'Mail that it works again',
  digest: 'Digest',
  success_ping: 'Ping to the monitor',
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
            {/* One that is held has no recipient yet. */}
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
            {each.error !== null && (
              <span className="w-full text-xs text-bad-ink wrap-anywhere">{each.error}</span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
