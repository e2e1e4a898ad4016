import { CornerDownRight } from 'lucide-react';
import { memo } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { APPROVE, REJECT } from '#ui/api/verbs/actions.ts';
import { argumentsLine } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { StateBadge } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { Several } from './decide-several.tsx';

type Action = Shape<'Action'>;
type Ids = ReadonlySet<string>;

/** The most actions of one request. */
export const MOST_AT_ONCE = 50;

/**
 * Groups the calls of each run in the order of its requests, the latest run first. Calls that were decided on this page
 * stay in place.
 */
export function inOrder(listed: readonly Action[], decided: readonly Action[]): readonly Action[] {
  const byId = new Map([...listed, ...decided].map((action) => [action.id, action]));
  for (const { replaces } of decided) if (replaces !== null) byId.delete(replaces);
  const rows = [...byId.values()].toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  const runs = [...Map.groupBy(rows, ({ runId }) => runId).values()];
  return runs.toSorted(([one], [other]) => (placeOf(one) > placeOf(other) ? -1 : 1)).flat();
}

/** Returns the id by which a call is sorted. A changed call takes the place of the call that it replaces. */
function placeOf(action: Action | undefined): string {
  return action?.replaces ?? action?.id ?? '';
}

export interface CallListProps {
  readonly rows: readonly Action[];
  readonly projectId: string;
  readonly chosen: string | undefined;
  readonly show: string | undefined;
  readonly selected: Ids;
  readonly onSelect: (change: (before: Ids) => Ids) => void;
  readonly onSeveral: (kind: Several['kind'], ids: Ids) => void;
}

/** Lists calls by the run that asked for them. */
export function CallList({ rows, projectId, chosen, show, selected, onSelect, onSeveral }: CallListProps) {
  const tooMany = selected.size > MOST_AT_ONCE ? `At most ${MOST_AT_ONCE} calls at once.` : undefined;
  return (
    <>
      {[...Map.groupBy(rows, ({ runId }) => runId)].map(([runId, calls]) => {
        const open = calls.filter(({ state }) => state === 'open').map(({ id }) => id);
        return (
          <section key={runId} aria-label={`Calls of ${calls[0]?.routineName ?? 'a run'}`} className="mb-5">
            <div className="flex min-h-8 items-center gap-2">
              <h2 className="min-w-0 grow truncate text-sm font-semibold">
                <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId }}>
                  {drawn(calls[0]?.routineName ?? '')}
                </TextLink>
              </h2>
              {open.length > 1 && (
                <Button size="sm" kind="quiet" onClick={() => onSeveral('approve', new Set(open))}>
                  {open.length > MOST_AT_ONCE ? `Approve the first ${MOST_AT_ONCE}` : `Approve all ${open.length}`}
                  <span className="sr-only"> of {calls[0]?.routineName}</span>
                </Button>
              )}
              <Time at={calls[0]?.createdAt ?? null} as="relative" className="shrink-0 text-xs text-muted" />
            </div>
            <ul className="border-t border-line">
              {calls.map((call) => (
                <Row
                  key={call.id}
                  call={call}
                  projectId={projectId}
                  show={show}
                  isChosen={call.id === chosen}
                  isSelected={selected.has(call.id)}
                  onSelect={onSelect}
                />
              ))}
            </ul>
          </section>
        );
      })}
      {selected.size > 0 && (
        <div className="sticky bottom-0 z-20 flex flex-wrap items-center gap-2 border-t border-line bg-canvas py-3">
          <span className="grow text-sm text-muted">{plural(selected.size, 'call')} selected</span>
          <Button size="sm" kind="quiet" onClick={() => onSelect(() => new Set())}>
            Clear
          </Button>
          <Button size="sm" disabledReason={tooMany} onClick={() => onSeveral('reject', selected)}>
            {REJECT.label}
          </Button>
          <Button size="sm" kind="primary" disabledReason={tooMany} onClick={() => onSeveral('approve', selected)}>
            {APPROVE.label}
          </Button>
        </div>
      )}
    </>
  );
}

interface RowProps extends Pick<CallListProps, 'projectId' | 'show' | 'onSelect'> {
  readonly call: Action;
  readonly isChosen: boolean;
  readonly isSelected: boolean;
}

/** Draws a row again only when that row changes, such as when it is chosen or selected. */
const Row = memo(PlainRow);

function PlainRow({ call, projectId, show, isChosen, isSelected, onSelect }: RowProps) {
  const { id, toolName, state, times, refersTo, expiresAt } = call;
  const line = argumentsLine(call);
  const select = (isOn: boolean) =>
    onSelect((before) => {
      const after = new Set(before);
      if (isOn) after.add(id);
      else after.delete(id);
      return after;
    });
  return (
    <li
      data-item={id}
      className={cx(
        'relative flex gap-2.5 border-b border-line py-2.5 pr-2 pl-2 hover:bg-hover',
        isChosen && 'lg:bg-hover',
      )}
    >
      {state === 'open' ? (
        <div className="relative z-10">
          <Checkbox
            label={<span className="sr-only">{`Select ${drawn(toolName)}: ${line}`}</span>}
            checked={isSelected}
            onChange={select}
          />
        </div>
      ) : (
        <span className="w-4.5 shrink-0" />
      )}
      <div className="min-w-0 grow">
        <div className="flex items-center gap-2">
          {refersTo.length > 0 && (
            <CornerDownRight aria-label="Uses the result of another call" className="size-3.5 shrink-0 text-faint" />
          )}
          <RowLink
            to="/p/$projectId/inbox"
            params={{ projectId }}
            search={{ show, action: id }}
            replace
            aria-current={isChosen ? 'true' : undefined}
            className="min-w-0 truncate font-mono text-sm"
          >
            {drawn(toolName)}
          </RowLink>
          {times > 1 && <span className="shrink-0 text-xs text-muted">{times} times</span>}
          <span className="ml-auto shrink-0 text-xs text-muted">
            {state === 'open' ? <Expiry at={expiresAt} word="rejected" /> : <StateBadge state={state} />}
          </span>
        </div>
        <p className="mt-0.5 truncate text-sm text-muted">{line}</p>
      </div>
    </li>
  );
}

const SOON_MS = 24 * 3_600_000;

export interface ExpiryProps {
  readonly at: string;
  /** State of the item after its time is over, such as "rejected". */
  readonly word: string;
}

/** Shows when an item expires, once that time is near. */
export function Expiry({ at, word }: ExpiryProps) {
  // oxlint-disable-next-line react/purity -- the list is read again every few seconds
  if (Date.parse(at) - Date.now() > SOON_MS) return null;
  return (
    <span className="shrink-0 text-warn-ink">
      {word} <Time at={at} as="relative" />
    </span>
  );
}
