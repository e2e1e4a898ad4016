import type { Shape } from '#ui/api/types.ts';
import { placeInWords } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { sortedJson } from '#ui/format/exact-number.ts';
import { memberOf, memberPointer } from '#ui/format/json-pointer.ts';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { useProjectId } from '#ui/api/project.ts';

type Detail = Shape<'ActionDetail'>;
type Difference = Shape<'ActionDifference'>;

/** Compares a call with the call of the same tool that was approved last. */
export function SinceLastApproved({ action: { arguments: given, lastApproved } }: { readonly action: Detail }) {
  if (lastApproved === null || given === null) return null;
  const before = lastApproved.arguments;
  const names = [...new Set([...Object.keys(before), ...Object.keys(given)])];
  const compared = names.map((name) => {
    const [was, is] = [memberOf(before, name), memberOf(given, name)];
    return { name, path: memberPointer('', name), before: was, after: is, isSame: sortedJson(was) === sortedJson(is) };
  });
  const differing = compared.filter(({ isSame }) => !isSame);
  const same = compared.filter(({ isSame }) => isSame).map(({ name }) => name);
  return (
    <Part
      title={
        <>
          Compared with the call approved <Time at={lastApproved.decidedAt} as="relative" />
        </>
      }
    >
      {differing.length === 0 ? (
        <p className="text-base text-muted">The same arguments.</p>
      ) : (
        <Differences of={differing} />
      )}
      {differing.length > 0 && same.length > 0 && (
        <p className="mt-2 text-sm text-muted">The same: {listInWords(same.map(drawn))}.</p>
      )}
    </Part>
  );
}

/** Shows the changes of a person in the arguments before the approval. */
export function ChangedByPerson({ action }: { readonly action: Detail }) {
  const projectId = useProjectId();
  const { changes, replaces, replacedBy, decidedBy } = action;
  const other = (id: string, label: string) => (
    <TextLink to="/p/$projectId/inbox" params={{ projectId }} search={{ action: id }} replace>
      {label}
    </TextLink>
  );
  if (replacedBy !== null) {
    return <p className="text-base text-muted">{other(replacedBy, 'The changed call')} was approved in its place.</p>;
  }
  if (replaces === null) return null;
  return (
    <Part title={`Changed by ${decidedBy?.name ?? 'a person'}`}>
      <Differences of={changes} />
      <p className="mt-2 text-sm text-muted">{other(replaces, 'The call as the run asked for it')}</p>
    </Part>
  );
}

function Part({ title, children }: { readonly title: React.ReactNode; readonly children: React.ReactNode }) {
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold text-ink">{title}</h3>
      {children}
    </section>
  );
}

/** The longest text that is shown in one line. */
const SHORT = 60;

function Differences({ of }: { readonly of: readonly Difference[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {of.map(({ path, before, after }) => {
        const [was, is] = [textOf(before), textOf(after)];
        const isShort = Math.max(was?.length ?? 0, is?.length ?? 0) <= SHORT && !`${was}${is}`.includes('\n');
        return (
          <li key={path} className="text-sm">
            <span className="text-faint">{placeInWords(path)}</span>
            {isShort ? (
              <span className="ml-2 wrap-anywhere">
                {was !== undefined && <del className="bg-bad-soft px-1 text-bad-ink">{drawn(was)}</del>}{' '}
                {is === undefined ? (
                  <span className="text-muted">left out</span>
                ) : (
                  <ins className="bg-good-soft px-1 text-good-ink no-underline">{drawn(is)}</ins>
                )}
              </span>
            ) : (
              <div className="mt-1">
                <TextDiff label={`Change of ${placeInWords(path)}`} before={was ?? ''} after={is ?? ''} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : sortedJson(value, 2);
}
