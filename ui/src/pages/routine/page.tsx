import { getRouteApi } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import { lazy, Suspense, type ReactNode } from 'react';
import { sentence } from '#ui/format/capitalized.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { ACTIVATE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { needText } from '#ui/format/need-words.ts';
import { stateReasonInWords } from '#ui/format/routine-words.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { ManagedMark } from '#ui/parts/managed.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { ProposalNotice } from '#ui/parts/proposal.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Tabs } from '#ui/parts/tabs.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';
import { Actions } from './actions.tsx';
import { Overview } from './overview.tsx';

const DataTab = lazy(() => import('./data-tab.tsx'));
const PreviewTab = lazy(() => import('./preview-tab.tsx'));
const RunsTab = lazy(() => import('./runs-tab.tsx'));
const ToolsTab = lazy(() => import('./tools-tab.tsx'));

const { useParams, useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/$routineId');

const TABS = ['overview', 'runs', 'data', 'tools', 'preview'] as const;

export function RoutinePage() {
  const projectId = useProjectId();
  const { routineId } = useParams();
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } }, { everyMs: 10_000 });
  return (
    <>
      <PageHeader
        title={routine.data?.name ?? 'Routine'}
        badge={
          routine.data && (
            <>
              <StateBadge state={routine.data.state} />
              <ManagedMark of={routine.data} />
            </>
          )
        }
        back={{
          label: 'Routines',
          link: { to: '/p/$projectId/routines', params: { projectId } },
        }}
        actions={routine.data && <HeaderActions routine={routine.data} />}
      />
      <Await of={routine} skeleton={<SkeletonRows rows={6} />} errorTitle="The routine could not be read">
        {(data) => <RoutineTabs routine={data} />}
      </Await>
    </>
  );
}

function HeaderActions({ routine }: { routine: Shape<'RoutineDetail'> }) {
  const projectId = useProjectId();
  return (
    <>
      {routine.state !== 'archived' && (
        <ButtonLink
          icon={Pencil}
          to="/p/$projectId/routines/$routineId/edit"
          params={{ projectId, routineId: routine.id }}
        >
          Edit
        </ButtonLink>
      )}
      <Actions routine={routine} />
    </>
  );
}

function RoutineTabs({ routine }: { routine: Shape<'RoutineDetail'> }) {
  const { tab: asked } = useSearch();
  const navigate = useNavigate();
  const tab = TABS.find((each) => each === asked) ?? 'overview';
  return (
    <>
      <Attention routine={routine} />
      {routine.proposal !== null && (
        <div className="mb-5 empty:hidden">
          <ProposalNotice routine={routine} />
        </div>
      )}
      <Tabs
        label="Routine"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next === 'overview' ? '' : next }, replace: true })}
        tabs={[
          { value: 'overview', label: 'Overview', panel: <Overview routine={routine} /> },
          { value: 'runs', label: 'Runs', panel: loaded(<RunsTab routineId={routine.id} />) },
          ...(routine.resultSchema === null && tab !== 'data'
            ? []
            : [{ value: 'data' as const, label: 'Data', panel: loaded(<DataTab routine={routine} />) }]),
          {
            value: 'tools',
            label: `Tools ${routine.callableTools.length > 0 ? routine.callableTools.length : ''}`,
            panel: loaded(<ToolsTab routine={routine} />),
          },
          { value: 'preview', label: 'Preview', panel: loaded(<PreviewTab routine={routine} />) },
        ]}
      />
    </>
  );
}

/** Shows a tab once its script has loaded. */
function loaded(panel: ReactNode) {
  return <Suspense fallback={<SkeletonRows rows={4} />}>{panel}</Suspense>;
}

/** Says why the service paused the routine, and lists other problems. */
function Attention({ routine }: { routine: Shape<'RoutineDetail'> }) {
  const { id: routineId, stateReason, webhookFailedAt, activation } = routine;
  // Leave out warnings about missing tools once a run has succeeded without them.
  const warnings = routine.warnings.filter(({ code }) => code !== 'skill_need_unmet' || activation.proofRunId === null);
  const texts = newerTexts(routine);
  const isQuiet = stateReason === null && webhookFailedAt === null;
  if (isQuiet && warnings.length === 0 && texts.length === 0) return null;
  const [needs, others] = [
    warnings.filter(({ code }) => code === 'skill_need_unmet'),
    warnings.filter(({ code }) => code !== 'skill_need_unmet'),
  ];
  return (
    <div className="mb-5 flex flex-col gap-2">
      {stateReason !== null && <Notice tone="warn">{stateReasonInWords(stateReason)}</Notice>}
      {webhookFailedAt !== null && (
        <Notice tone="warn">
          The receiver said that the webhook is gone, so deliveries have stopped. Save the webhook again to continue.
        </Notice>
      )}
      {others.map(({ message }) => (
        <Notice key={message}>{sentence(message)}</Notice>
      ))}
      {needs.length > 0 && <Needs routineId={routineId} warnings={needs} />}
      <NewerTexts routineId={routineId} texts={texts} />
    </div>
  );
}

/** Lists in one notice the data that no tool of the routine seems to offer. */
function Needs({ routineId, warnings }: { readonly routineId: string } & Pick<Shape<'RoutineDetail'>, 'warnings'>) {
  const projectId = useProjectId();
  const needs = [...new Set(warnings.flatMap(({ need }) => (need === undefined ? [] : [needText(need)])))];
  return (
    <Notice>
      <span>
        The skills work better with a tool for {listInWords(needs)}.{' '}
        <TextLink to="/p/$projectId/routines/$routineId/tools" params={{ projectId, routineId }}>
          Choose a tool
        </TextLink>
        , or write the data into the instructions.
      </span>
    </Notice>
  );
}

interface NewerText {
  readonly inWords: string;
  /** True when a run with a newer text has succeeded. */
  readonly isProven: boolean;
}

/** Lists the outdated skills and facts of an active routine. */
function newerTexts({ skillsBehind, factsBehind }: Shape<'RoutineDetail'>): readonly NewerText[] {
  const skills = skillsBehind.map(({ name, activated, proven, newest }) => ({
    inWords: `revision ${activated} of ${name}, which is at ${newest}`,
    isProven: (proven ?? 0) > activated,
  }));
  if (factsBehind === null) return skills;
  const { activated, proven, newest } = factsBehind;
  const version = activated === null ? 'no version' : `version ${activated}`;
  return [
    ...skills,
    {
      inWords: `${version} of the project facts, which are at ${newest}`,
      isProven: (proven ?? 0) > (activated ?? 0),
    },
  ];
}

interface NewerTextsProps {
  readonly routineId: string;
  readonly texts: readonly NewerText[];
}

/** Lists the older texts that an active routine still runs, and offers the newer ones. */
function NewerTexts({ routineId, texts }: NewerTextsProps) {
  const run = useVerb(RUN_NOW);
  const take = useVerb(ACTIVATE, { done: 'Scheduled runs now use the new text' });
  const of = { id: routineId };
  if (texts.length === 0) return null;
  const isProven = texts.some((text) => text.isProven);
  return (
    <Notice>
      <span>
        Scheduled runs still use {listInWords(texts.map(({ inWords }) => inWords))}.{' '}
        {isProven
          ? 'A run with the newer text has succeeded.'
          : 'Run the routine once: a run by hand uses the newest text.'}
      </span>
      {isProven ? (
        <VerbButton verb={take} of={of} size="sm" label="Use the new text" bare />
      ) : (
        <VerbButton verb={run} of={of} size="sm" label="Run once" />
      )}
    </Notice>
  );
}
