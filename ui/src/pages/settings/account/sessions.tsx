import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSignOut } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type Session = Shape<'Session'>;

const COLUMNS: readonly Column<Session>[] = [
  {
    key: 'device',
    header: 'Device',
    cell: ({ userAgent, current }) => (
      <span className="flex items-center gap-2">
        <span className="truncate font-medium" {...(userAgent !== null && { title: userAgent })}>
          {deviceOf(userAgent)}
        </span>
        {current && <Badge tone="good">This one</Badge>}
      </span>
    ),
  },
  {
    key: 'address',
    header: 'Signed in from',
    width: 'w-52',
    cell: ({ address }) =>
      address === null ? (
        <span className="text-faint">Unknown</span>
      ) : (
        <code className="font-mono text-xs">{address}</code>
      ),
  },
  {
    key: 'created',
    header: 'Signed in',
    width: 'w-36',
    cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
  },
  {
    key: 'expires',
    header: 'Ends',
    width: 'w-28',
    from: 'md',
    cell: ({ expiresAt }) => <Time at={expiresAt} as="relative" />,
  },
];

/** Lists where the person is signed in. */
export function Sessions() {
  const sessions = useRead('/v1/sessions', {}, { everyMs: 60_000 });
  const signOut = useSignOut();
  const end = useSend('delete', '/v1/sessions/{sessionId}', {
    refreshes: ['/v1/sessions'],
    done: 'Session ended',
  });
  return (
    <Section title="Sessions" description="The devices where you are signed in. End a session to sign its device out.">
      <Await of={sessions} skeleton={<SkeletonRows rows={2} />} errorTitle="The sessions could not be read">
        {(rows) => (
          <DataTable
            label="Sessions"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            actions={({ id, current, userAgent }) => (
              <Button
                kind="quiet"
                size="sm"
                onClick={() => {
                  if (current) void signOut();
                  else end.send({ path: { sessionId: id } });
                }}
              >
                {current ? 'Sign out' : 'End'}
                {!current && <span className="sr-only"> {deviceOf(userAgent)}</span>}
              </Button>
            )}
          />
        )}
      </Await>
    </Section>
  );
}

const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Names the device that signed in, in two words and by its own claim: "Firefox on Linux". */
export function deviceOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown device';
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  if (browser === undefined) return system ?? userAgent.split(/[\s/]/, 1)[0] ?? 'Unknown device';
  return system === undefined ? browser : `${browser} on ${system}`;
}
