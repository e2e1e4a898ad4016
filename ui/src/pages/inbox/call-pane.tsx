import { lazy, useRef, useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { ApiError } from '#ui/api/error.ts';
import type { Shape } from '#ui/api/types.ts';
import { APPROVE } from '#ui/api/verbs/actions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { isUnderWay } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { sortedJson } from '#ui/format/exact-number.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Lazily, TextDiff } from '#ui/parts/lazily.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Arguments } from './arguments.tsx';
import { ChangedByPerson, SinceLastApproved } from './differences.tsx';
import { Outcome } from './outcome.tsx';
import { Decisions } from './decisions.tsx';

// The form is loaded when a person first opens it.
const EditArguments = lazy(() => import('./edit-arguments.tsx'));

type Detail = Shape<'ActionDetail'>;

export interface CallPaneProps {
  readonly id: string;
  readonly onDecided: (action: Shape<'Action'>) => void;
}

/** Shows a whole held call, and takes the decision about it. */
export function CallPane({ id, onDecided }: CallPaneProps) {
  const [isSent, setSent] = useState(false);
  const read = useRead(
    '/v1/actions/{actionId}',
    { path: { actionId: id } },
    // Read each second while the outcome of an approval is awaited.
    { everyMs: isSent ? 1_000 : 15_000 },
  );
  const isWaited = read.data !== undefined && isUnderWay(read.data);
  if (isWaited !== isSent) setSent(isWaited);
  return (
    <Await of={read} skeleton={<SkeletonText lines={6} />} errorTitle="This call could not be read">
      {(action) => <Call latest={action} onReload={read.refetch} onDecided={onDecided} />}
    </Await>
  );
}

interface CallProps extends Pick<CallPaneProps, 'onDecided'> {
  readonly latest: Detail;
  readonly onReload: () => void;
}

function Call({ latest, onReload, onDecided }: CallProps) {
  const pane = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState(latest);
  const [isEditing, setEditing] = useState(false);
  const [error, setError] = useState<ApiError>();
  const approve = useVerb(APPROVE, { showsError: true });
  const isChanged = latest.digest !== seen.digest;
  // The shown call stays until the person acknowledges the change.
  const call = isChanged ? seen : latest;
  const decide = async (edited?: Record<string, unknown>) => {
    setError(undefined);
    try {
      onDecided(await approve.actAsync({ ...call, edited }));
      setEditing(false);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
      onReload();
    }
  };
  return (
    <article ref={pane} aria-label={`Call of ${drawn(call.toolName)}`} className="flex min-w-0 flex-col gap-5">
      <Head call={call} />
      {isChanged && (
        <Notice tone="warn">
          <div className="flex min-w-0 grow flex-col items-start gap-2">
            <p>The call has changed since you looked. Nothing was sent.</p>
            <div className="w-full">
              <TextDiff label="What has changed" before={callText(seen)} after={callText(latest)} />
            </div>
            <Button
              size="sm"
              onClick={() => {
                setSeen(latest);
                setError(undefined);
              }}
            >
              Show the call as it is now
            </Button>
          </div>
        </Notice>
      )}
      <Outcome action={call} />
      {call.modelReason !== null && (
        <figure className="border-l-2 border-edge pl-3">
          <figcaption className="text-xs text-faint">The model’s own words, which no one has checked</figcaption>
          <blockquote className="mt-0.5 text-base whitespace-pre-wrap text-muted wrap-anywhere">
            {drawn(call.modelReason)}
          </blockquote>
        </figure>
      )}
      <section aria-label="Arguments">
        <h3 className="mb-2 text-sm font-semibold text-ink">Arguments</h3>
        {isEditing && call.arguments !== null ? (
          <Lazily skeleton={<SkeletonText lines={6} />}>
            <EditArguments
              given={call.arguments}
              schema={call.inputSchema}
              error={error}
              isBusy={approve.isBusy}
              onSubmit={(edited) => void decide(edited)}
              onCancel={() => {
                setEditing(false);
                setError(undefined);
              }}
            />
          </Lazily>
        ) : (
          <Arguments action={call} />
        )}
      </section>
      <ChangedByPerson action={call} />
      {call.state === 'open' && !isEditing && <SinceLastApproved action={call} />}
      {!isEditing && (
        <Decisions
          call={call}
          pane={pane}
          isChanged={isChanged}
          isBusy={approve.isBusy}
          error={error}
          onApprove={() => void decide()}
          onEdit={() => setEditing(true)}
          onDecided={onDecided}
        />
      )}
    </article>
  );
}

/** Names the tool, the account and the run, and says when the call expires. */
function Head({ call }: { readonly call: Detail }) {
  const projectId = useProjectId();
  const { toolName, connectionName, account, routineName, runId, lastRunId, times, state, createdAt, expiresAt } = call;
  const runLink = (id: string, label: string) => (
    <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: id }}>
      {label}
    </TextLink>
  );
  return (
    <header>
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <h2 className="font-mono text-lg font-semibold text-ink wrap-anywhere">{drawn(toolName)}</h2>
        <StateBadge state={state} />
        {state === 'open' && (
          <span className="text-sm text-muted">
            Rejects itself <Time at={expiresAt} as="relative" />
          </span>
        )}
      </div>
      <p className="mt-1 text-base text-muted wrap-anywhere">
        On {drawn(connectionName)}
        {account !== null && <> as {drawn(account)}</>}, asked for by {runLink(runId, drawn(routineName))}{' '}
        <Time at={createdAt} as="relative" />.
        {times > 1 && (
          <>
            {' '}
            Runs have asked for this call {times} times, {runLink(lastRunId, 'the last time')} while this waited.
          </>
        )}
      </p>
    </header>
  );
}

/** Returns the contents of the approval as text, to compare two states of a call. */
function callText({ toolName, connectionName, account, definitionHash, arguments: given }: Detail): string {
  return [
    `${toolName} on ${connectionName}${account === null ? '' : ` as ${account}`}`,
    `definition ${definitionHash.slice(0, 12)}`,
    sortedJson(given, 2),
  ].join('\n');
}
