import { useProjectId } from '#ui/api/project.ts';
import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { argumentsLine, endOf } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';

/** Lists the held calls of a run, each with the decision about it; nothing for a run without any. */
export function HeldCalls({ run }: { readonly run: Shape<'RunDetail'> }) {
  return run.steps.some(({ tool }) => tool?.action != null) ? <Held runId={run.id} /> : null;
}

function Held({ runId }: { readonly runId: string }) {
  const projectId = useProjectId();
  const held = useList('/v1/actions', { query: { runId, limit: 200 } }, { everyMs: 15_000 });
  return (
    <Section
      title="Held for approval"
      description="The run went on without these calls."
      className="mt-8 first:mt-8 print:hidden"
    >
      <Await of={held} skeleton={<SkeletonRows rows={2} />} errorTitle="The held calls of this run could not be read">
        {(actions) => (
          <ul className="border-t border-line">
            {actions
              .toSorted((one, other) => (one.id < other.id ? -1 : 1))
              .map((action) => (
                <li key={action.id} className="relative border-b border-line py-2.5 hover:bg-hover">
                  <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
                    <RowLink
                      to="/p/$projectId/inbox"
                      params={{ projectId }}
                      search={{ action: action.id }}
                      className="min-w-0 truncate font-mono text-sm"
                    >
                      {drawn(action.toolName)}
                    </RowLink>
                    <StateBadge state={action.state} />
                  </div>
                  <p className="mt-0.5 line-clamp-2 text-sm text-muted wrap-anywhere">{verdictOf(action)}</p>
                </li>
              ))}
          </ul>
        )}
      </Await>
    </Section>
  );
}

/** Summarizes a call and its result. */
function verdictOf(action: Shape<'Action'>): string {
  const { note, result, decidedBy } = action;
  const said = [
    endOf(action),
    note === null ? undefined : `${decidedBy?.name ?? 'A person'} wrote: ${drawn(note)}`,
    result === null || result === '' ? undefined : `It answered: ${drawn(result)}`,
  ].filter((each) => each !== undefined);
  return [argumentsLine(action), ...said].join(' · ');
}
