import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { badgeOf, versionOf } from '#ui/format/run-words.ts';
import { dateTime } from '#ui/format/times.ts';
import { Select } from '#ui/parts/select.tsx';
import { describeState } from '#ui/parts/state.tsx';

type Run = Pick<Shape<'Run'>, 'id' | 'state' | 'outcome' | 'startedAt' | 'createdAt' | 'routineRevision'>;

export interface RunChoiceProps {
  readonly label: string;
  readonly routineId: string;
  /** Undefined while the run is read, or if none is chosen. */
  readonly chosen: Run | undefined;
  readonly onChoose: (runId: string) => void;
}

/** Chooses one of the last runs of a routine. The address may name an older one. */
export function RunChoice({ label, routineId, chosen, onChoose }: RunChoiceProps) {
  const runs = useList('/v1/routines/{routineId}/runs', {
    path: { routineId },
    query: { limit: 50 },
  });
  const listed: readonly Run[] = (runs.data ?? []).filter(({ state }) => state !== 'skipped');
  const all = chosen === undefined || listed.some(({ id }) => id === chosen.id) ? listed : [...listed, chosen];
  return (
    <div className="flex min-w-0 flex-col gap-1 max-sm:w-full">
      <span aria-hidden className="text-xs text-faint">
        {label}
      </span>
      <Select
        compact
        className="max-sm:w-full"
        label={label}
        placeholder="Choose a run"
        options={all.map((run) => ({
          value: run.id,
          label: dateTime(new Date(run.startedAt ?? run.createdAt)),
          hint: `${describeState(badgeOf(run)).label}, version ${versionOf(run)}`,
        }))}
        value={chosen?.id ?? null}
        onChange={onChoose}
      />
    </div>
  );
}
