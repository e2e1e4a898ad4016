import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { ACTIVATE } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { plural } from '#ui/format/numbers.ts';
import { dateTime } from '#ui/format/times.ts';
import { listInWords } from './routine-fields.ts';
import { TextLink } from './text-link.tsx';
import { VerbButton } from './verb-button.tsx';

type Routine = Shape<'RoutineDetail'>;

/** Offers to activate a draft after its first good run, with its schedule and the recipients of its mail. */
export function ActivationOffer({ routineId }: { readonly routineId: string }) {
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } });
  if (routine.data?.state !== 'draft' || !routine.data.activation.ready) return null;
  return <Offer routine={routine.data} />;
}

function Offer({
  routine: { id: routineId, scheduleInWords, timezone, notifications, resultsTo, webhookUrl },
}: {
  routine: Routine;
}) {
  const projectId = useProjectId();
  const project = useRead('/v1/projects/{projectId}', { path: { projectId } });
  const activate = useVerb(ACTIVATE, {
    done: ({ nextRunAt }) =>
      nextRunAt === null ? 'Routine active' : `Routine active. Next run ${dateTime(new Date(nextRunAt))}`,
  });
  const edit = { to: '/p/$projectId/routines/$routineId/edit', params: { projectId, routineId } } as const;
  return (
    <section
      aria-label="Next step"
      className="mt-4 rounded-lg border border-accent bg-accent-soft px-4 py-3 print:hidden"
    >
      <p className="text-base text-ink">
        Good? The routine can run by itself: <strong className="font-medium">{scheduleInWords}</strong>, {timezone}.
      </p>
      {project.data !== undefined && (
        <p className="mt-0.5 text-sm text-muted">
          {recipientsInWords({ notifications, resultsTo, webhookUrl }, project.data)}
        </p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <VerbButton verb={activate} of={{ id: routineId }} kind="primary" size="sm" bare />
        <TextLink {...edit}>Change it</TextLink>
        <TextLink {...edit} hash="who-is-told">
          Who gets the results
        </TextLink>
      </div>
    </section>
  );
}

/** Names the recipients of a routine's results, and says whether failures are mailed. */
function recipientsInWords(
  { notifications: { mail }, resultsTo, webhookUrl }: Pick<Routine, 'notifications' | 'resultsTo' | 'webhookUrl'>,
  project: Shape<'ProjectDetail'>,
): string {
  const chosen = mail ?? project.notifications.mail;
  const isMailed = project.mailDelivery === 'available' && chosen !== null && chosen.on.includes('failed');
  const ways = [
    ...(resultsTo.mail === null ? [] : ['by mail']),
    ...(resultsTo.chats.length === 0 ? [] : [`to ${plural(resultsTo.chats.length, 'chat')}`]),
    ...(webhookUrl === null ? [] : ['to the webhook']),
  ];
  return [
    ways.length === 0 ? 'Results wait for you on Home.' : `Results go out ${listInWords(ways)}.`,
    isMailed ? 'If a run fails, people get mail.' : 'No one gets mail, not even when a run fails.',
  ].join(' ');
}
