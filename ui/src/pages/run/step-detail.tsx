import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { count, exactMoney, plural } from '#ui/format/numbers.ts';
import { humanize } from '#ui/format/run-words.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { KeyValue, type Fact } from '#ui/parts/page.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { pretty } from '#ui/format/json-text.ts';

type Step = Shape<'Step'>;

/** Tones of the notes about the end of a step. */
const TONES: Readonly<Record<string, 'bad' | 'info'>> = {
  failed: 'bad',
  cancelled: 'info',
  not_begun: 'info',
};

interface StepDetailProps {
  readonly step: Step;
  readonly badge: string;
  readonly leftOut: number;
}

/** Reads the texts of a step, which the detail of the run leaves out, and then shows the step. */
export function ReadStep({ runId, step, ...rest }: StepDetailProps & { readonly runId: string }) {
  const read = useRead('/v1/runs/{runId}/steps', {
    path: { runId },
    query: { cursor: String(step.index - 1), limit: 1 },
  });
  return (
    <Await of={read} skeleton={<Skeleton className="w-40" />} errorTitle="The texts of this step could not be read">
      {([whole = step]) => <StepDetail step={whole} {...rest} />}
    </Await>
  );
}

/** Shows everything that is recorded about a step. */
export function StepDetail({ step, badge, leftOut }: StepDetailProps) {
  const omittedFrom = step.tool?.omittedFromStep ?? null;
  return (
    <>
      <KeyValue inline facts={step.tool === null ? modelFacts(step) : toolFacts(step, step.tool)} />
      {step.attempt > 1 && (
        <Notice tone="warn">
          This is attempt {step.attempt}. An earlier attempt broke off. The provider may have billed it, which this
          service cannot see.
        </Notice>
      )}
      {step.errorMessage !== null && <Notice tone={TONES[badge] ?? 'warn'}>{drawn(step.errorMessage)}</Notice>}
      {step.warnings.map(({ code, message }) => (
        <Notice key={code} tone="warn">
          {message}
        </Notice>
      ))}
      {leftOut > 0 && (
        <Notice>
          To make room in the context window, {plural(leftOut, 'earlier result')} {leftOut === 1 ? 'is' : 'are'} left
          out from this step on; the model gets only its length.
        </Notice>
      )}
      {omittedFrom !== null && (
        <Notice>
          The model has read this result. From step {omittedFrom + 1} on it is no longer sent, to make room in the
          context window.
        </Notice>
      )}
      {step.text !== null && step.text !== '' && (
        <CodeBlock code={step.text} label={`text of step ${step.index + 1}`} wrap />
      )}
      {step.thinking !== null && (
        <div>
          <p className="mb-1 text-xs text-faint">Thinking, taken out of the text</p>
          <CodeBlock code={step.thinking} label={`thinking of step ${step.index + 1}`} wrap />
        </div>
      )}
      {step.tool !== null && <Permission tool={step.tool} />}
      {step.tool !== null && <ToolCall tool={step.tool} />}
    </>
  );
}

function modelFacts(step: Step): Fact[] {
  const { usage } = step;
  const facts: Fact[] = [
    { label: 'Step', value: count(step.index + 1) },
    { label: 'Model', value: step.modelId ?? 'unknown' },
    { label: 'Began', value: <Time at={step.startedAt} /> },
  ];
  if (step.finishReason !== null) {
    facts.push({ label: 'Ended by', value: <span className="font-mono text-xs">{drawn(step.finishReason)}</span> });
  }
  if (usage.totalTokens > 0) {
    facts.push(
      { label: 'Input', value: withPart(usage.inputTokens, usage.cachedInputTokens, 'cached') },
      {
        label: 'Output',
        value: withPart(usage.outputTokens, usage.reasoningTokens, 'reasoning'),
      },
      { label: 'Cost', value: exactMoney(usage.costUsd) },
    );
  }
  if (usage.estimated) facts.push({ label: 'Tokens', value: 'counted by the service' });
  return facts;
}

function withPart(whole: number, part: number, name: string): string {
  return part === 0 ? count(whole) : `${count(whole)}, of which ${count(part)} ${name}`;
}

function toolFacts(step: Step, tool: NonNullable<Step['tool']>): Fact[] {
  const facts: Fact[] = [
    { label: 'Step', value: count(step.index + 1) },
    { label: 'Called as', value: <span className="font-mono text-xs">{tool.name}</span> },
    { label: 'Tool of', value: <Source tool={tool} /> },
  ];
  if (step.startedAt !== null) facts.push({ label: 'Began', value: <Time at={step.startedAt} /> });
  return facts;
}

function Source({ tool }: { tool: NonNullable<Step['tool']> }) {
  const { toolName, connectionId, connectionName } = tool;
  if (toolName === null) return 'none: this run has no such tool';
  if (connectionId === null) return 'the service itself';
  return <ConnectionName id={connectionId} name={connectionName} />;
}

/** Says whether the call of a held tool waits for a person, or which rule let the call through. */
function Permission({ tool: { action, rule } }: { tool: NonNullable<Step['tool']> }) {
  const projectId = useProjectId();
  if (rule !== null) return <Notice>A standing rule let this call through. {drawn(rule.words)}.</Notice>;
  if (action === null) return null;
  return (
    <Notice>
      <span>
        This call was not made. It waits for a person in the{' '}
        <TextLink to="/p/$projectId/inbox" params={{ projectId }} search={{ action: action.id }}>
          inbox
        </TextLink>
        .
      </span>
    </Notice>
  );
}

function ToolCall({ tool }: { tool: NonNullable<Step['tool']> }) {
  return (
    <>
      <Part label="Arguments" text={tool.arguments} length={tool.argumentsLength} />
      <Part
        label={tool.isError === true ? 'The tool answered with an error' : 'Result'}
        text={tool.result}
        length={tool.resultLength}
      />
      <Part label="Structured result" text={tool.structured} length={tool.structuredLength} />
      {tool.attachments.length > 0 && (
        <div>
          <p className="mb-1 text-xs text-faint">Other content, of which only the description is kept</p>
          <ul className="flex flex-col gap-0.5 text-sm text-ink">
            {tool.attachments.map(({ kind, mimeType, bytes, uri, sha256 }, index) => (
              <li key={`${sha256 ?? uri ?? kind}-${index}`} className="wrap-anywhere">
                {[humanize(kind), mimeType, bytes === null ? null : plural(bytes, 'byte'), uri]
                  .filter(Boolean)
                  .join(', ')}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

interface PartProps {
  readonly label: string;
  readonly text: string | null;
  readonly length: number | null;
}

function Part({ label, text, length }: PartProps) {
  if (text === null || text === '') return null;
  return (
    <div>
      <p className="mb-1 text-xs text-faint">
        {label}
        {length !== null && length > text.length && (
          <span>
            : the first {count(text.length)} of {count(length)} characters
          </span>
        )}
      </p>
      <CodeBlock code={pretty(text)} label={label.toLowerCase()} wrap />
    </div>
  );
}

/** Names a connection by its name at the time of the run, with a link while the connection exists. */
function ConnectionName({ id, name }: { readonly id: string; readonly name: string | null }) {
  const projectId = useProjectId();
  const { data, error } = useRead(
    '/v1/connections/{connectionId}',
    { path: { connectionId: id } },
    { staleMs: 60_000 },
  );
  if (data !== undefined) {
    const params = { projectId, connectionId: id };
    return (
      <TextLink to="/p/$projectId/connections/$connectionId" params={params}>
        {name ?? data.name}
      </TextLink>
    );
  }
  const known = name ?? 'a connection';
  return error?.code === 'connection_not_found' ? `${known}, deleted since` : known;
}
