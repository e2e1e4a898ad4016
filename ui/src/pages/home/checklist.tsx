import { Link, type LinkProps } from '@tanstack/react-router';
import { ArrowRight, Check } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useRead } from '#ui/api/read.ts';
import { cx } from '#ui/parts/cx.ts';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Section } from '#ui/parts/page.tsx';

interface Item {
  readonly label: string;
  readonly why: string;
  readonly isDone: boolean;
  readonly link: LinkProps;
  /** Another way to reach the same step. */
  readonly also?: { readonly label: string; readonly link: LinkProps };
}

/**
 * Shows the steps to a first scheduled routine and marks the finished ones. The list disappears for good when all steps
 * are finished.
 */
export function Checklist({ projectId }: { readonly projectId: string }) {
  // This browser remembers that all steps were done, so that archiving the only routine does not show them again.
  const [isOver] = useState(() => localStorage.getItem(keyOf(projectId)) !== null);
  return isOver ? null : <Steps projectId={projectId} />;
}

function keyOf(projectId: string): string {
  return `first steps of ${projectId}`;
}

function Steps({ projectId }: { readonly projectId: string }) {
  const done = useDone(projectId);
  const isOver = done !== undefined && Object.values(done).every(Boolean);
  useEffect(() => {
    if (isOver) localStorage.setItem(keyOf(projectId), 'done');
  }, [isOver, projectId]);
  // Renders nothing until the steps are known, so that the list does not flash for a user who has done everything.
  if (done === undefined) return null;
  const items = itemsOf(projectId, done);
  const next = items.findIndex(({ isDone }) => !isDone);
  if (next === -1) return null;
  return (
    <Section title="First steps" className="mb-8">
      <ol className="grid overflow-hidden rounded-lg border border-line bg-surface sm:grid-cols-2 lg:grid-cols-4">
        {items.map((item, index) => (
          <li
            key={item.label}
            className="relative flex gap-2.5 border-line p-4 max-lg:not-last:border-b sm:odd:border-r lg:not-last:border-r"
          >
            <Mark item={item} number={index + 1} />
            <div className="min-w-0">
              {index === next ? (
                <Link
                  {...item.link}
                  className="ring-inside inline-flex items-center gap-1 text-base font-medium text-accent-ink after:absolute after:inset-0"
                >
                  {item.label}
                  <ArrowRight aria-hidden className="size-3.5" />
                </Link>
              ) : (
                <p className={cx('text-base font-medium', item.isDone ? 'text-muted' : 'text-ink')}>
                  {item.label}
                  {item.isDone && <span className="sr-only">, done</span>}
                </p>
              )}
              <p className="mt-0.5 text-sm text-muted">{item.why}</p>
              {item.also !== undefined && !item.isDone && (
                <p className="relative z-10 mt-1 text-sm">
                  <TextLink {...item.also.link}>{item.also.label}</TextLink>
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Mark({ item, number }: { item: Item; number: number }) {
  return (
    <span
      aria-hidden
      className={cx(
        'flex size-5 shrink-0 items-center justify-center rounded-full text-xs font-medium',
        item.isDone ? 'bg-good-soft text-good-ink' : 'border border-edge text-muted',
      )}
    >
      {item.isDone ? <Check className="size-3.5" /> : number}
    </span>
  );
}

interface Done {
  /** The newest routine, to which the next steps lead. */
  readonly routineId: string | undefined;
  readonly made: boolean;
  readonly run: boolean;
  readonly activated: boolean;
  readonly sent: boolean;
}

const REFRESH = { everyMs: 30_000 } as const;

/** Asks the server for each step whether a routine or run proves it; undefined until all answers are known. */
function useDone(projectId: string): Done | undefined {
  const made = useRead('/v1/routines', { query: { limit: 1 } }, REFRESH);
  const run = useRead('/v1/runs', { query: { state: 'succeeded', limit: 1 } }, REFRESH);
  const active = useRead('/v1/routines', { query: { state: 'active', limit: 1 } }, REFRESH);
  const paused = useRead('/v1/routines', { query: { state: 'paused', limit: 1 } }, REFRESH);
  const sent = useRead('/v1/routines', { query: { sendsResults: 'true', limit: 1 } }, REFRESH);
  const digest = useRead('/v1/projects/{projectId}/digest', { path: { projectId } }, REFRESH);
  const reads = [made, run, active, paused, sent];
  if (reads.some(({ data }) => data === undefined)) return undefined;
  const found = ({ data }: { readonly data: readonly unknown[] | undefined }) => data !== undefined && data.length > 0;
  return {
    routineId: made.data?.[0]?.id,
    made: found(made),
    run: found(run),
    activated: found(active) || found(paused),
    sent: found(sent) || (digest.data !== undefined && digest.data.frequency !== 'off'),
  };
}

function itemsOf(projectId: string, done: Done): readonly Item[] {
  const { routineId } = done;
  const toRoutines: LinkProps = { to: '/p/$projectId/routines', params: { projectId } };
  const toNewest: LinkProps =
    routineId === undefined
      ? toRoutines
      : { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } };
  return [
    {
      label: 'Make a routine',
      why: 'Say what the routine should do, and when.',
      isDone: done.made,
      link: { to: '/p/$projectId/start', params: { projectId } },
    },
    {
      label: 'Run it once',
      why: 'See the result before the routine runs on its own.',
      isDone: done.run,
      link: toNewest,
    },
    {
      label: 'Activate it',
      why: 'From then on the routine runs on time.',
      isDone: done.activated,
      link: toNewest,
    },
    {
      label: 'Have results sent',
      why: 'By mail, to a chat, or to a program of yours.',
      isDone: done.sent,
      also: {
        label: 'Or a digest of what is new',
        link: { to: '/p/$projectId/settings', params: { projectId }, search: { tab: 'notifications' } },
      },
      link:
        routineId === undefined
          ? toRoutines
          : {
              to: '/p/$projectId/routines/$routineId/edit',
              params: { projectId, routineId },
              hash: 'who-is-told',
            },
    },
  ];
}
