import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, money, share } from '#ui/format/numbers.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { BESIDE_RUNS, useNames, type Split } from './choices.ts';

type Group = Shape<'ProjectUsage'>['groups'][number];

export interface UsageTableProps {
  readonly days: { readonly from: string; readonly to: string };
  readonly splitBy: Split;
  /** Tokens of the whole time, from which the rows' shares are computed. */
  readonly total: number;
}

/** Lists the numbers of the chart by model or routine, the largest first. */
export function UsageTable({ days, splitBy, total }: UsageTableProps) {
  const usage = useRead('/v1/usage', { query: { ...days, groupBy: splitBy } }, { everyMs: 60_000, keepPrevious: true });
  const nameOf = useNames(splitBy);
  const projectId = useProjectId();
  const columns: readonly Column<Group>[] = [
    {
      key: 'name',
      header: splitBy === 'model' ? 'Model' : 'Routine',
      cell: ({ key }) =>
        splitBy === 'routine' && !BESIDE_RUNS.has(key) ? (
          <RowLink to="/p/$projectId/routines/$routineId" params={{ projectId, routineId: key }}>
            {nameOf(key)}
          </RowLink>
        ) : (
          <span className="font-medium">{nameOf(key)}</span>
        ),
    },
    {
      key: 'steps',
      header: 'Steps',
      align: 'right',
      width: 'w-20',
      cell: ({ steps }) => count(steps),
    },
    {
      key: 'input',
      header: 'Input tokens',
      align: 'right',
      width: 'w-36',
      from: 'md',
      cell: ({ inputTokens, cachedInputTokens }) => (
        <span title={`${count(cachedInputTokens)} of them cached`}>{count(inputTokens)}</span>
      ),
    },
    {
      key: 'output',
      header: 'Output tokens',
      align: 'right',
      width: 'w-36',
      from: 'md',
      cell: ({ outputTokens }) => count(outputTokens),
    },
    {
      key: 'share',
      header: 'Tokens',
      align: 'right',
      width: 'w-40',
      cell: ({ totalTokens }) => `${count(totalTokens)} (${share(total === 0 ? 0 : totalTokens / total)})`,
    },
    {
      key: 'cost',
      header: 'Cost',
      align: 'right',
      width: 'w-24',
      cell: ({ costUsd }) => money(costUsd),
    },
  ];
  return (
    <Await of={usage} skeleton={<SkeletonRows rows={3} />} errorTitle="The usage could not be read">
      {({ groups }) => (
        <DataTable
          label={splitBy === 'model' ? 'Usage by model' : 'Usage by routine'}
          columns={columns}
          rows={groups}
          keyOf={({ key }) => key}
        />
      )}
    </Await>
  );
}
