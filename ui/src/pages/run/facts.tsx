import { ExternalLink } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, money } from '#ui/format/numbers.ts';
import { humanize, isOver, starterOf, versionOf } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { CodeBlock, CopyField } from '#ui/parts/copy.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import type { Fact } from '#ui/parts/page.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { tookMs } from './step-time.ts';

type RunDetail = Shape<'RunDetail'>;

/** Lists the facts of a run besides its texts, with the time it spent waiting and running. */
export function Facts({ run }: { readonly run: RunDetail }) {
  const variables = Object.entries(run.variables);
  const facts = [...timeFacts(run), ...useSourceFacts(run), ...usageFacts(run)];
  return (
    <section aria-label="Facts">
      <FactList facts={facts.filter(({ label }) => !DETAILS.has(label))} />
      {variables.length > 0 && (
        <>
          <h2 className="mt-6 mb-2 text-sm font-semibold text-ink">Variables of this run</h2>
          <dl className="flex flex-col gap-1.5">
            {variables.map(([name, value]) => (
              <div key={name} className="min-w-0">
                <dt className="font-mono text-xs text-faint">{name}</dt>
                <dd className="text-sm text-ink wrap-anywhere">{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <Fold className="mt-3 -ml-3" summary={<span className="text-sm text-muted">Details</span>}>
        <FactList facts={facts.filter(({ label }) => DETAILS.has(label))} />
        <CopyField value={run.id} label="Copy run id" />
        {run.workflowUrl !== null && (
          <a
            href={run.workflowUrl}
            target="_blank"
            rel="noreferrer noopener"
            className="inline-flex w-fit items-center gap-1.5 rounded-sm text-sm font-medium text-accent-ink hover:underline"
          >
            <ExternalLink aria-hidden className="size-3.5" strokeWidth={1.75} />
            The workflow in Temporal
          </a>
        )}
      </Fold>
    </section>
  );
}

/** Facts for people who operate the service or write the routine. */
const DETAILS: ReadonlySet<unknown> = new Set(['Waited', 'Facts', 'Model', 'Tokens']);

function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 lg:grid-cols-1">
      {facts.map(({ label, value }) => (
        <div key={label} className="min-w-0 lg:grid lg:grid-cols-[5.5rem_1fr] lg:gap-3">
          <dt className="text-sm text-faint">{label}</dt>
          <dd className="min-w-0 text-sm text-ink wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function timeFacts(run: RunDetail): Fact[] {
  const took = tookMs(run);
  const facts: Fact[] = [];
  if (run.scheduledFor !== null) {
    facts.push({ label: 'Scheduled', value: <Time at={run.scheduledFor} /> });
  }
  if (run.runAt !== null) facts.push({ label: 'Asked for', value: <Time at={run.runAt} /> });
  facts.push({
    label: run.startedAt === null ? 'Created' : 'Started',
    value: <Time at={run.startedAt ?? run.createdAt} />,
  });
  const isAhead = run.state === 'queued' && run.queuedSeconds === 0;
  if (run.queuedSeconds !== null && run.state !== 'skipped' && !isAhead) {
    facts.push({ label: 'Waited', value: duration(run.queuedSeconds * 1_000) });
  }
  if (took !== null) facts.push({ label: 'Took', value: duration(took) });
  return facts;
}

function useSourceFacts(run: RunDetail): Fact[] {
  const projectId = useProjectId();
  const { routineId } = run;
  return [
    {
      label: 'Routine',
      value: (
        <TextLink to="/p/$projectId/routines/$routineId" params={{ projectId, routineId }}>
          {run.routineName}
        </TextLink>
      ),
    },
    {
      label: 'Version',
      value: (
        <TextLink to="/p/$projectId/routines/$routineId/versions" params={{ projectId, routineId }}>
          {versionOf(run)}
        </TextLink>
      ),
    },
    ...(run.factsVersion === null
      ? []
      : [
          {
            label: 'Facts',
            value: (
              <TextLink
                to="/p/$projectId/settings"
                params={{ projectId }}
                search={{ tab: 'facts', version: String(run.factsVersion) }}
              >
                Version {run.factsVersion}
              </TextLink>
            ),
          },
        ]),
    { label: 'Started by', value: <Trigger run={run} /> },
    ...(run.retryOf === null
      ? []
      : [
          {
            label: 'Repeats',
            value: (
              <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: run.retryOf }}>
                an earlier run
              </TextLink>
            ),
          },
        ]),
    ...(run.model === null ? [] : [{ label: 'Model', value: run.model.modelId }]),
  ];
}

/** Names the trigger; a backfill links to its other runs. */
function Trigger({ run }: { run: RunDetail }) {
  const projectId = useProjectId();
  if (run.backfillId === null) return starterOf(run);
  return (
    <TextLink to="/p/$projectId/runs" params={{ projectId }} search={{ backfillId: run.backfillId }}>
      {starterOf(run)}
    </TextLink>
  );
}

function usageFacts(run: RunDetail): Fact[] {
  const usage = isOver(run) ? run.usage : totalOf(run.steps);
  if (usage.totalTokens === 0) return [];
  const cached = usage.cachedInputTokens > 0 ? `, ${count(usage.cachedInputTokens)}\u00a0cached` : '';
  return [
    {
      label: 'Tokens',
      value: (
        <>
          {count(usage.totalTokens)}
          {usage.estimated && <span className="text-muted"> estimated</span>}
          <span className="block text-xs text-muted">
            {`${count(usage.inputTokens)}\u00a0in${cached}, ${count(usage.outputTokens)}\u00a0out`}
          </span>
        </>
      ),
    },
    { label: 'Cost', value: money(usage.costUsd) },
  ];
}

type Usage = Shape<'Usage'>;

/** Adds up the usage of the steps while the run has no total yet. */
function totalOf(steps: readonly { readonly usage: Usage }[]): Usage {
  const sum = (of: (usage: Usage) => number) => steps.reduce((total, { usage }) => total + of(usage), 0);
  const priced = steps.flatMap(({ usage }) => (usage.costUsd === null ? [] : [usage.costUsd]));
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedInputTokens: sum(({ cachedInputTokens }) => cachedInputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    reasoningTokens: sum(({ reasoningTokens }) => reasoningTokens),
    totalTokens: sum(({ totalTokens }) => totalTokens),
    costUsd: priced.length === 0 ? null : String(priced.reduce((total, cost) => total + Number(cost), 0)),
    estimated: steps.some(({ usage }) => usage.estimated),
  };
}

type GateVerdict = NonNullable<Shape<'GateVerdict'>>;

/** Shows the value that the gate read before the model was called, and the reason for its decision. */
export function Gate({ gate }: { readonly gate: GateVerdict | null }) {
  if (gate === null) return null;
  const { asked, valuePreview, valueLength } = gate;
  return (
    <section className="mt-6" aria-labelledby="gate">
      <h2 id="gate" className="mb-2 text-sm font-semibold text-ink">
        Checked before the run
      </h2>
      <p className="text-sm text-ink">{wordsOf(gate)}</p>
      <p className="mt-0.5 text-xs text-muted wrap-anywhere">
        {asked.tool === null ? asked.url : `Tool ${asked.tool.name ?? 'gone since'}`}
        {asked.status !== null && `, status ${asked.status}`}
        {!asked.sent && ', not sent'}, <Time at={gate.at} as="relative" />
      </p>
      {gate.error !== null && <p className="mt-1 text-xs text-bad-ink">{gate.error}</p>}
      {valuePreview !== null && (
        <div className="mt-2">
          <CodeBlock code={valuePreview} label="value that was checked" wrap maxHeight="sm" />
          {valueLength !== null && valueLength > valuePreview.length && (
            <p className="mt-1 text-xs text-faint">The beginning of {count(valueLength)} characters</p>
          )}
        </div>
      )}
    </section>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  first: 'There was no earlier value to compare with, so the model was asked.',
  changed: 'The value had changed, so the model was asked.',
  not_empty: 'The value was not empty, so the model was asked.',
  manual: 'A user started this run, so the model was asked in any case.',
  quiet_too_long: 'The longest quiet time had passed, so the model was asked.',
  unchanged: 'The value had not changed, so the model was not asked.',
  empty: 'The value was empty, so the model was not asked.',
};

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: 'The address could not be reached',
  status: 'The address did not respond with a success',
  tool_refused: 'The call of the tool was not allowed',
  tool_failed: 'The call of the tool failed',
  too_slow: 'There was no response in time',
  too_large: 'The response was too large',
  not_json: 'The response is not JSON, so its parts could not be read',
  pointer_missing: 'The response lacks a part that is checked',
};

function wordsOf({ failed, reason }: GateVerdict): string {
  if (!failed) return WORDS[reason] ?? `${humanize(reason)}.`;
  return `${FAILURES[reason] ?? humanize(reason)}, so the model was asked to be safe.`;
}
