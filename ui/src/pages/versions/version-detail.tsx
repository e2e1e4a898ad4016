import { useNavigate } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { type ReactNode } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { useVerb, verb } from '#ui/api/verbs/verb.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { MATERIAL_FIELDS, textOf } from '#ui/parts/routine-fields.ts';
import { Skeleton, SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';

export interface VersionDetailProps {
  readonly routineId: string;
  readonly version: Shape<'RoutineVersionSummary'>;
  readonly isCurrent: boolean;
  readonly isArchived: boolean;
  readonly state: Shape<'Routine'>['state'] | undefined;
}

/** Shows the changes of a version, and its whole text. */
export function VersionDetail({ routineId, version, isCurrent, isArchived, state }: VersionDetailProps) {
  const { revision, changed } = version;
  const at = (each: number) => ({ path: { routineId, revision: each } });
  const isFirst = changed.length === 0;
  const options = { staleMs: 600_000 };
  const after = useRead(VERSION, at(revision), options);
  const before = useRead(VERSION, at(Math.max(revision - 1, 1)), {
    ...options,
    enabled: !isFirst,
  });
  return (
    <Section
      className="mt-0!"
      title={`Version ${revision}`}
      actions={
        <Restore
          routineId={routineId}
          revision={revision}
          state={state}
          disabledReason={
            isArchived ? 'The routine is archived.' : isCurrent ? 'This is the current version.' : undefined
          }
        />
      }
    >
      <Await of={after} skeleton={<SkeletonText lines={8} />} errorTitle="The version could not be read">
        {(data) => (
          <Changes after={data} before={isFirst ? undefined : before.data} isPending={!isFirst && before.isPending} />
        )}
      </Await>
    </Section>
  );
}

const VERSION = '/v1/routines/{routineId}/versions/{revision}';

interface Restorable {
  readonly routineId: string;
  readonly revision: number;
  readonly state: VersionDetailProps['state'];
}

const RESTORE = verb<Restorable>()('post', '/v1/routines/{routineId}/versions/{revision}/restore', {
  label: 'Restore',
  icon: RotateCcw,
  question: ({ revision, state }) => ({
    title: `Restore version ${revision}?`,
    description: `The content of this version becomes a new version.${state === 'active' ? ' The routine returns to draft, and leaves its schedule until a run succeeds and you activate the routine again.' : ' The routine needs a good run before it can be activated.'} Name, schedule, budget and the tools of connections stay as they are.`,
    action: 'Restore',
    kind: 'primary',
  }),
  input: ({ routineId, revision }) => ({ path: { routineId, revision } }),
  changes: ['/v1/routines'],
  done: 'Version restored',
});

function Restore({ disabledReason, ...of }: Restorable & { readonly disabledReason: string | undefined }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const restore = useVerb(RESTORE, {
    onDone: ({ id }) => navigate({ to: '/p/$projectId/routines/$routineId', params: { projectId, routineId: id } }),
  });
  return <VerbButton verb={restore} of={of} size="sm" disabledReason={disabledReason} />;
}

type Version = Shape<'RoutineVersion'>;
type Field = Version['changed'][number];

interface ChangesProps {
  readonly after: Version;
  /** Undefined for the first version. */
  readonly before: Version | undefined;
  readonly isPending: boolean;
}

/** Shows the fields that differ from the version before, each with its old and new value. */
function Changes({ after, before, isPending }: ChangesProps) {
  if (isPending) return <Skeleton className="h-40" />;
  const fields: readonly Field[] = before === undefined ? FIELDS : after.changed;
  return (
    <div className="flex flex-col gap-5">
      {fields
        .filter((field) => before !== undefined || textOf(field, after[field]) !== '')
        .map((field) => (
          <Change key={field} title={MATERIAL_FIELDS[field]}>
            <TextDiff
              label={MATERIAL_FIELDS[field]}
              before={textOf(field, (before ?? after)[field])}
              after={textOf(field, after[field])}
            />
          </Change>
        ))}
    </div>
  );
}

function Change({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium text-ink first-letter:uppercase">{title}</h3>
      {children}
    </div>
  );
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys returns plain texts
const FIELDS = Object.keys(MATERIAL_FIELDS) as Field[];
