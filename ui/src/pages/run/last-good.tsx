import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, money } from '#ui/format/numbers.ts';
import { starterOf, versionOf } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { tookMs } from './step-time.ts';

type RunDetail = Shape<'RunDetail'>;

/** Shows the differences from the last earlier run that succeeded. */
export function LastGood({ run }: { readonly run: RunDetail }) {
  const { lastGoodRunId: runId } = run;
  const good = useRead('/v1/runs/{runId}', { path: { runId: runId ?? '' } }, { enabled: runId !== null });
  // Show nothing instead of an error, because this is a side note.
  if (good.error !== null) return null;
  return (
    <section className="mt-6" aria-labelledby="last-good">
      <h2 id="last-good" className="mb-2 text-sm font-semibold text-ink">
        Compared with the last good run
      </h2>
      {runId === null ? (
        <p className="text-sm text-muted">No earlier run has succeeded.</p>
      ) : good.data === undefined ? (
        <Skeleton className="w-40" />
      ) : (
        <Comparison run={run} good={good.data} />
      )}
    </section>
  );
}

function Comparison({ run, good }: { run: RunDetail; good: RunDetail }) {
  const projectId = useProjectId();
  const differences = differencesOf(run, good);
  return (
    <>
      <p className="mb-2 text-sm">
        <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: good.id }}>
          <Time at={good.startedAt ?? good.createdAt} />
        </TextLink>
      </p>
      {differences.length === 0 ? (
        <p className="text-sm text-muted">Same version, model, variables and tools.</p>
      ) : (
        <dl className="flex flex-col gap-1.5">
          {differences.map(({ label, before, now }) => (
            <div key={label} className="grid grid-cols-[5.5rem_1fr] gap-3 text-sm">
              <dt className="text-faint">{label}</dt>
              <dd className="min-w-0 text-ink wrap-anywhere">
                <span className="text-muted">{before}</span>
                <span aria-hidden className="text-faint">
                  {' → '}
                </span>
                <span className="sr-only">, now </span>
                {now}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

interface Difference {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

/** Share of the larger amount by which two amounts may differ and still count as equal. */
const NOTABLE = 0.2;

/** Lists the differences between two runs of a routine: their inputs, and amounts that are far apart. */
function differencesOf(run: RunDetail, good: RunDetail): readonly Difference[] {
  const found: Difference[] = [];
  const texts = (label: string, of: (each: RunDetail) => string) => {
    if (of(run) !== of(good)) found.push({ label, before: of(good), now: of(run) });
  };
  const amounts = (
    label: string,
    of: (each: RunDetail) => number | null,
    format: (value: number) => string,
    least = 0,
  ) => {
    const [before, now] = [of(good), of(run)];
    if (before === null || now === null || !isNotable(before, now, least)) return;
    found.push({ label, before: format(before), now: format(now) });
  };
  texts('Version', versionOf);
  texts('Model', ({ model }) => model?.modelId ?? 'none');
  texts('Variables', variablesOf);
  texts('Started by', starterOf);
  texts('Tools', toolsOf);
  const [prompt, goodPrompt] = [run.prompt, good.prompt];
  if (prompt !== null && goodPrompt !== null && prompt !== goodPrompt) {
    found.push({ label: 'Prompt', before: characters(goodPrompt), now: characters(prompt) });
  }
  amounts('Took', tookMs, duration, 1_000);
  amounts('Tokens', ({ usage }) => usage.totalTokens, count);
  amounts('Cost', ({ usage }) => (usage.costUsd === null ? null : Number(usage.costUsd)), money);
  return found;
}

function isNotable(before: number, now: number, least: number): boolean {
  return Math.abs(now - before) > Math.max(least, NOTABLE * Math.max(before, now));
}

function variablesOf({ variables }: RunDetail): string {
  const pairs = Object.entries(variables).toSorted(([a], [b]) => a.localeCompare(b));
  return pairs.length === 0 ? 'none' : pairs.map(([name, value]) => `${name}: ${value}`).join(', ');
}

/** Lists the called tools, each with its number of calls. */
function toolsOf({ steps }: RunDetail): string {
  const names = steps.flatMap(({ tool }) => (tool === null ? [] : [tool.toolName ?? tool.name]));
  const groups = Map.groupBy(names.toSorted(), (name) => name);
  const parts = [...groups].map(([name, { length }]) => (length === 1 ? name : `${name} ×${length}`));
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function characters(text: string): string {
  return `${count(text.length)} characters`;
}
