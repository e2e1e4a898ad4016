import type { LinkProps } from '@tanstack/react-router';
import { useSession } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { ACTIVATE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { plural } from '#ui/format/numbers.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { reasonOf, WARNINGS } from '#ui/format/run-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { AskedQuestion } from '#ui/parts/asked-question.tsx';
import { ButtonLink } from '#ui/parts/button.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { Badge, StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';
import { Row } from './row.tsx';

type All = Shape<'Attention'>;
type Kinds = 'held' | 'stopped' | 'failed' | 'withoutTools' | 'signIns' | 'budgets' | 'skillsBehind' | 'questions';

interface Props<Kind extends Kinds> {
  readonly of: All[Kind][number];
  readonly projectId: string;
}

function routineLink(projectId: string, routineId: string): LinkProps {
  return { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } };
}

/** Shows a run whose held calls wait for a person. */
export function Held({ of: { routineName, actionId, calls, toolNames, expiresAt }, projectId }: Props<'held'>) {
  const link: LinkProps = { to: '/p/$projectId/inbox', params: { projectId }, search: { action: actionId } };
  return (
    <Row
      link={link}
      title={routineName}
      badge={<Badge tone="warn">{plural(calls, 'call')} to approve</Badge>}
      line={listInWords(toolNames)}
      aside={
        <>
          rejected <Time at={expiresAt} as="relative" />
        </>
      }
    >
      <ButtonLink size="sm" kind="quiet" {...link}>
        Decide
      </ButtonLink>
    </Row>
  );
}

/** Shows a routine that the service has taken off its schedule. */
export function Stopped({ of: routine, projectId }: Props<'stopped'>) {
  const { routineId, routineName, state, reason, updatedAt } = routine;
  const activate = useVerb(ACTIVATE);
  const run = useVerb(RUN_NOW);
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
          Change the end
        </ButtonLink>
      ) : state === 'draft' ? (
        // Offer a run first, because a draft needs it as proof.
        <VerbButton verb={run} of={{ id: routineId }} size="sm" kind="quiet" label="Run once" bare />
      ) : (
        <VerbButton verb={activate} of={{ id: routineId }} size="sm" kind="quiet" label="Activate again" bare />
      )}
    </Row>
  );
}

/** Shows a routine whose last run has failed. */
export function Failed({ of: routine, projectId }: Props<'failed'>) {
  const { routineName, runId, runs, finishedAt } = routine;
  const again = useVerb(RUN_AGAIN);
  return (
    <Row
      link={{ to: '/p/$projectId/runs/$runId', params: { projectId, runId } }}
      title={routineName}
      badge={<StateBadge state="failed" />}
      line={reasonOf(routine) ?? ''}
      aside={
        <>
          {runs > 1 && <span>{plural(runs, 'time')}, last </span>}
          <Time at={finishedAt} as="relative" />
        </>
      }
    >
      <VerbButton verb={again} of={{ id: runId }} size="sm" kind="quiet" bare />
    </Row>
  );
}

/** Shows a routine whose last run succeeded without its tools. */
export function WithoutTools({ of: { routineName, runId, finishedAt }, projectId }: Props<'withoutTools'>) {
  const link: LinkProps = { to: '/p/$projectId/runs/$runId', params: { projectId, runId } };
  return (
    <Row
      link={link}
      title={routineName}
      badge={<StateBadge state="partial" />}
      line={WARNINGS.tools_failed}
      aside={<Time at={finishedAt} as="relative" />}
    >
      <ButtonLink size="sm" kind="quiet" {...link}>
        See the calls
      </ButtonLink>
    </Row>
  );
}

/** Shows a sign-in that has ended, with the owner if the account is another person's. */
export function SignIn({ of: { kind, name, ownerId, ownerName, updatedAt }, projectId }: Props<'signIns'>) {
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
          : `Routines that use this account cannot run until ${ownerId === null ? 'a member signs' : 'you sign'} in again.`
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
  maxTokensPerDay: 'token budget for today (UTC)',
  maxCostUsdPerMonth: 'cost budget for this month (UTC)',
} as const;

/** Shows a budget that is nearly or fully spent. */
export function Budget({ of: { scope, scopeId, name, limit, percent }, projectId }: Props<'budgets'>) {
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
      line={`The ${scope} has used ${percent}% of its ${LIMITS[limit]}.`}
    >
      <ButtonLink size="sm" kind="quiet" {...raise}>
        Change the budget
      </ButtonLink>
    </Row>
  );
}

/** Shows a question of a run, with the ways to answer it. */
export function Question({ of: asked, projectId }: Props<'questions'>) {
  return (
    <li className="border-b border-line px-2 py-2.5">
      <p className="mb-1 flex flex-wrap items-center gap-x-2.5 text-base">
        <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: asked.lastRunId }}>
          {drawn(asked.routineName)}
        </TextLink>
        <Badge tone="warn">Asks</Badge>
      </p>
      <AskedQuestion of={asked} />
    </li>
  );
}

/** Shows a routine that runs an older text of a skill. */
export function Behind({ of: { routineId, routineName, skills }, projectId }: Props<'skillsBehind'>) {
  const link = routineLink(projectId, routineId);
  return (
    <Row
      link={link}
      title={routineName}
      badge={<Badge tone="warn">Older skill</Badge>}
      line={`Scheduled runs do not use the newest text of ${skills.join(', ')} yet.`}
    >
      <ButtonLink size="sm" kind="quiet" {...link}>
        Test the new version
      </ButtonLink>
    </Row>
  );
}
