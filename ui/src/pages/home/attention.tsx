import type { LinkProps } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge, StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

type All = Shape<'Attention'>;
type Kinds = 'stopped' | 'failed' | 'signIns' | 'budgets' | 'skillsBehind';

/** Lists what keeps the project from working as its people mean it to, each with what mends it. */
export function Attention({ projectId }: { readonly projectId: string }) {
  const attention = useRead('/v1/attention', {}, { everyMs: 15_000 });
  return (
    <Section
      title="Needs attention"
      actions={
        <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ state: 'failed' }}>
          All failed runs
        </TextLink>
      }
    >
      <Await
        of={attention}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="What needs attention could not be read"
      >
        {(all) => <Entries all={all} projectId={projectId} />}
      </Await>
    </Section>
  );
}

function Entries({ all, projectId }: { readonly all: All; readonly projectId: string }) {
  const { stopped, failed, signIns, budgets, skillsBehind, truncated } = all;
  if ([stopped, failed, signIns, budgets, skillsBehind].every(({ length }) => length === 0)) {
    return <AllWell />;
  }
  return (
    <>
      <ul className="border-t border-line">
        {stopped.map((each) => (
          <Stopped key={each.routineId} of={each} projectId={projectId} />
        ))}
        {failed.map((each) => (
          <Failed key={each.routineId} of={each} projectId={projectId} />
        ))}
        {signIns.map((each) => (
          <SignIn key={each.id} of={each} projectId={projectId} />
        ))}
        {budgets.map((each) => (
          <Budget key={`${each.scopeId} ${each.limit}`} of={each} projectId={projectId} />
        ))}
        {skillsBehind.map((each) => (
          <Behind key={each.routineId} of={each} projectId={projectId} />
        ))}
      </ul>
      {truncated && (
        <p className="mt-2 text-sm text-muted">
          There is more.{' '}
          <TextLink
            to="/p/$projectId/routines"
            params={{ projectId }}
            search={{ state: 'stopped' }}
          >
            All stopped routines
          </TextLink>
        </p>
      )}
    </>
  );
}

interface Props<Kind extends Kinds> {
  readonly of: All[Kind][number];
  readonly projectId: string;
}

function routineLink(projectId: string, routineId: string): LinkProps {
  return { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } };
}

function Stopped({ of: routine, projectId }: Props<'stopped'>) {
  const { routineId, routineName, state, reason, updatedAt } = routine;
  const refreshes = ['/v1/attention', '/v1/routines', '/v1/runs'];
  const activate = useSend('post', '/v1/routines/{routineId}/activate', {
    refreshes,
    done: 'Routine activated',
  });
  const run = useSend('post', '/v1/routines/{routineId}/run', {
    refreshes,
    done: 'The run has started',
  });
  const edit = { to: '/p/$projectId/routines/$routineId/edit', params: { projectId, routineId } };
  return (
    <Row
      link={routineLink(projectId, routineId)}
      title={routineName}
      badge={<StateBadge state={state} />}
      line={stateReasonInWords(reason)}
      aside={<Time at={updatedAt} as="relative" />}
    >
      {reason === 'schedule_ended' ? (
        <ButtonLink size="sm" kind="quiet" {...edit}>
          Change its end
        </ButtonLink>
      ) : state === 'draft' ? (
        // A draft needs a run that proves it first.
        <Button
          size="sm"
          kind="quiet"
          busy={run.isSending}
          onClick={() => run.send({ path: { routineId } })}
        >
          Run once
        </Button>
      ) : (
        <Button
          size="sm"
          kind="quiet"
          busy={activate.isSending}
          onClick={() => activate.send({ path: { routineId }, body: {} })}
        >
          Activate again
        </Button>
      )}
    </Row>
  );
}

function Failed({ of: routine, projectId }: Props<'failed'>) {
  const { routineName, runId, runs, finishedAt } = routine;
  const again = useSend('post', '/v1/runs/{runId}/retry', {
    refreshes: ['/v1/attention', '/v1/routines', '/v1/runs'],
    done: 'Started again',
  });
  return (
    <Row
      link={{ to: '/p/$projectId/runs/$runId', params: { projectId, runId } }}
      title={routineName}
      badge={<StateBadge state="failed" />}
      line={reasonOf({ ...routine, state: 'failed', outcome: null }) ?? ''}
      aside={
        <>
          {runs > 1 && <span>{plural(runs, 'time')}, last </span>}
          <Time at={finishedAt} as="relative" />
        </>
      }
    >
      <Button
        size="sm"
        kind="quiet"
        busy={again.isSending}
        onClick={() => again.send({ path: { runId } })}
      >
        Run again
      </Button>
    </Row>
  );
}

/** Shows a sign-in that has ended; of another person's account, whose it is. */
function SignIn({
  of: { kind, name, ownerId, ownerName, updatedAt },
  projectId,
}: Props<'signIns'>) {
  const { user } = useSession();
  const link: LinkProps =
    kind === 'connection'
      ? { to: '/p/$projectId/connections', params: { projectId } }
      : { to: '/p/$projectId/model-accounts', params: { projectId } };
  const isAnothers = ownerId !== null && ownerId !== user.id;
  return (
    <Row
      link={link}
      title={name}
      badge={<Badge tone="warn">Signed out</Badge>}
      line={
        isAnothers
          ? `Only ${ownerName ?? 'its owner'} can sign in to this model account again.`
          : `Routines that use it cannot run until ${ownerId === null ? 'a member signs' : 'you sign'} in again.`
      }
      aside={<Time at={updatedAt} as="relative" />}
    >
      {!isAnothers && (
        <ButtonLink size="sm" kind="quiet" {...link}>
          Sign in again
        </ButtonLink>
      )}
    </Row>
  );
}

const LIMITS = {
  maxTokensPerDay: 'tokens of this day (UTC)',
  maxCostUsdPerMonth: 'cost of this month (UTC)',
} as const;

function Budget({ of: { scope, scopeId, name, limit, percent }, projectId }: Props<'budgets'>) {
  const raise: LinkProps =
    scope === 'routine'
      ? {
          to: '/p/$projectId/routines/$routineId/edit',
          params: { projectId, routineId: scopeId },
        }
      : {
          to: '/p/$projectId/settings',
          params: { projectId },
          search: { tab: scope === 'project' ? 'projects' : 'organization' },
        };
  return (
    <Row
      link={{ to: '/p/$projectId/usage', params: { projectId } }}
      title={name}
      badge={
        <Badge tone={percent >= 100 ? 'bad' : 'warn'}>
          {percent >= 100 ? 'Budget used up' : `Budget at ${percent}%`}
        </Badge>
      }
      line={`The ${scope} has used ${percent}% of its budget for the ${LIMITS[limit]}.`}
    >
      <ButtonLink size="sm" kind="quiet" {...raise}>
        Change the budget
      </ButtonLink>
    </Row>
  );
}

function Behind({ of: { routineId, routineName, skills }, projectId }: Props<'skillsBehind'>) {
  const link = routineLink(projectId, routineId);
  return (
    <Row
      link={link}
      title={routineName}
      badge={<Badge tone="warn">Older skill</Badge>}
      line={`Its scheduled runs do not take the newest text of ${skills.join(', ')} yet.`}
    >
      <ButtonLink size="sm" kind="quiet" {...link}>
        Prove the new text
      </ButtonLink>
    </Row>
  );
}

function AllWell() {
  return (
    <p className="flex items-center gap-2 rounded-lg border border-line bg-surface px-4 py-3 text-base text-muted">
      <CircleCheck aria-hidden className="size-4 shrink-0 text-good" strokeWidth={1.75} />
      Nothing needs you now.
    </p>
  );
}

interface RowProps {
  readonly link: LinkProps;
  readonly title: string;
  readonly badge?: ReactNode;
  /** Detail below the title. */
  readonly line?: string;
  /** Time or figure at the end of the row. */
  readonly aside?: ReactNode;
  /** Action that mends it. */
  readonly children?: ReactNode;
}

/** Shows one entry of a short list, all of which is a link. */
export function Row({ link, title, badge, line = '', aside, children }: RowProps) {
  return (
    <li className="relative border-b border-line py-2.5 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink {...link} className="min-w-0 truncate text-base">
          {drawn(title)}
        </RowLink>
        {badge}
        <span className="ml-auto text-sm text-muted tabular">{aside}</span>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        {line !== '' && (
          <p className="mt-0.5 line-clamp-2 min-w-0 flex-1 basis-60 max-sm:basis-full text-sm text-muted wrap-anywhere">
            {drawn(line)}
          </p>
        )}
        {/* Above the link that covers the row. */}
        {children !== undefined && <div className="relative z-10 -mx-2.5">{children}</div>}
      </div>
    </li>
  );
}

const MINUTE_MS = 60_000;

/**
 * Returns the instant so long ago, to the minute, so that the address of a read stays the same while the page is open.
 */
export function since(ms: number, now = Date.now()): string {
  return new Date(Math.floor((now - ms) / MINUTE_MS) * MINUTE_MS).toISOString();
}
