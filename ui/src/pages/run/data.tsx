import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Section } from '#ui/parts/page.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Fold } from './fold.tsx';

type Changes = NonNullable<Shape<'RunDetail'>['changes']>;

/** Shows the data of a result that has a schema, and what is new in it. */
export function Data({ run }: { readonly run: Shape<'RunDetail'> }) {
  const { data, changes } = run;
  if (data === null || data === undefined) return null;
  return (
    <Section
      title="Data"
      {...(changes === null ? {} : { description: <Against changes={changes} /> })}
    >
      <ul className="rounded-lg border border-line bg-surface">
        {(changes === null ? [] : partsOf(changes)).map(({ label, items }) => (
          <Line key={label} label={label} value={items} />
        ))}
        <Line label="All of it" value={data} />
      </ul>
    </Section>
  );
}

function Line({ label, value }: { label: string; value: unknown }) {
  return (
    <li className="border-b border-line last:border-b-0">
      <Fold summary={<span className="text-sm text-ink">{label}</span>}>
        <CodeBlock code={JSON.stringify(value, null, 2)} label={label.toLowerCase()} wrap />
      </Fold>
    </li>
  );
}

function Against({ changes }: { changes: Changes }) {
  const projectId = useProjectId();
  const { against, unchangedRuns, truncated } = changes;
  if (against === null) return 'The first of its kind: all of it is new.';
  return (
    <>
      Compared with{' '}
      <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: against }}>
        the run that was delivered last
      </TextLink>
      {unchangedRuns > 0 && `, ${plural(unchangedRuns, 'run')} without a change`}.
      {truncated && ' Not every item is shown.'}
    </>
  );
}

function partsOf({ counts, added, removed, changed }: Changes) {
  return [
    { label: `${counts.added} added`, items: added },
    { label: `${counts.removed} removed`, items: removed },
    { label: `${counts.changed} changed`, items: changed },
  ].filter(({ items }) => items.length > 0);
}
