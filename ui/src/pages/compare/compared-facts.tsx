import type { ReactNode } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { count, money } from '#ui/format/numbers.ts';
import { badgeOf, starterOf, versionOf } from '#ui/format/run-words.ts';
import { duration, exactTime } from '#ui/format/times.ts';
import { cx } from '#ui/parts/cx.ts';
import { Section } from '#ui/parts/page.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { describeState } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

type RunDetail = Shape<'RunDetail'>;

/** Shows the facts of two runs side by side and marks the differences. */
export function ComparedFacts({ before, after }: { before: RunDetail; after: RunDetail }) {
  const skills = [useSkills(before), useSkills(after)] as const;
  const rows: readonly Row[] = [
    fact('State', before, after, (run) => describeState(badgeOf(run)).label),
    fact('What it said', before, after, ({ outcomeSummary, errorMessage }) =>
      drawn(outcomeSummary ?? errorMessage ?? ''),
    ),
    fact('Version', before, after, versionOf),
    fact('Model', before, after, ({ model }) => model?.modelId ?? 'none'),
    { label: 'Skills', before: skills[0], after: skills[1], differs: skills[0] !== skills[1] },
    fact('Variables', before, after, variablesOf),
    fact('Started by', before, after, starterOf),
    measure('Took', before, after, tookOf),
    measure('Tokens', before, after, ({ usage }) => count(usage.totalTokens)),
    measure('Cost', before, after, ({ usage }) => money(usage.costUsd)),
  ];
  return (
    <Section title="The two runs">
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
        tabIndex={0}
        role="region"
        aria-label="Facts of the two runs"
        className="relative overflow-x-auto rounded-lg border border-line bg-surface"
      >
        <table className="w-full table-fixed text-sm">
          <thead>
            <tr className="border-b border-line">
              <th scope="col" className="w-28 max-sm:w-20">
                <span className="sr-only">Fact</span>
              </th>
              <Head run={before} word="Before" />
              <Head run={after} word="After" />
              <th scope="col" className="w-20 max-sm:hidden">
                <span className="sr-only">Difference</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows
              .filter((row) => row.before !== '' || row.after !== '')
              .map((row) => (
                <tr key={row.label} className="border-b border-line align-top last:border-b-0">
                  <th scope="row" className={cx(CELL, 'text-left font-normal text-faint')}>
                    {row.label}
                  </th>
                  <td className={cx(CELL, row.differs ? 'font-medium text-ink' : 'text-muted')}>{row.before}</td>
                  <td className={cx(CELL, row.differs ? 'font-medium text-ink' : 'text-muted')}>{row.after}</td>
                  <td className={cx(CELL, 'text-xs text-warn-ink max-sm:hidden')}>{row.differs && 'differs'}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

const CELL = 'px-3 py-1.5 wrap-anywhere max-sm:px-2';

interface Row {
  readonly label: string;
  readonly before: ReactNode;
  readonly after: ReactNode;
  readonly differs: boolean;
}

function fact(label: string, before: RunDetail, after: RunDetail, of: (run: RunDetail) => string): Row {
  const [one, other] = [of(before), of(after)];
  return { label, before: one, after: other, differs: one !== other };
}

/** Makes the row of a measure. Measures of two runs are hardly ever equal, so the row is not marked as different. */
function measure(...of: Parameters<typeof fact>): Row {
  return { ...fact(...of), differs: false };
}

function Head({ run, word }: { readonly run: RunDetail; readonly word: string }) {
  const projectId = useProjectId();
  const at = run.startedAt ?? run.createdAt;
  return (
    <th scope="col" className={cx(CELL, 'text-left font-medium')} title={exactTime(new Date(at))}>
      <span className="block text-xs font-normal text-faint">{word}</span>
      <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.id }} activeOptions={{ exact: true }}>
        <Time at={at} />
      </TextLink>
    </th>
  );
}

/** Names the skills of the version of a run; empty until they are read, or if the version is gone. */
function useSkills({ routineId, routineRevision: revision }: RunDetail): string {
  const version = useRead(
    '/v1/routines/{routineId}/versions/{revision}',
    { path: { routineId, revision } },
    { staleMs: 600_000 },
  );
  if (version.data === undefined) return '';
  return version.data.skills.length === 0 ? 'none' : listInWords(version.data.skills);
}

function variablesOf({ variables }: RunDetail): string {
  const pairs = Object.entries(variables).toSorted(([a], [b]) => a.localeCompare(b));
  return pairs.map(([name, value]) => `${name}: ${value}`).join(', ');
}

function tookOf({ startedAt, finishedAt }: RunDetail): string {
  if (startedAt === null || finishedAt === null) return '–';
  return duration(Date.parse(finishedAt) - Date.parse(startedAt));
}
