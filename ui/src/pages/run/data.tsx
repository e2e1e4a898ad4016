import type { Shape } from '#ui/api/types.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Section } from '#ui/parts/page.tsx';
import { ChangeLines, Comparison, Line } from './changes.tsx';
import { json, jsonIn } from './json.ts';

/** Shows the data of a result that has a schema, unless the result is just that, and what is new in it. */
export function Data({ run }: { readonly run: Shape<'RunDetail'> }) {
  const { id, data, changes, result } = run;
  if (data === null || data === undefined) return null;
  const isShown = result !== null && jsonIn(result) !== undefined;
  if (isShown && changes === null) return null;
  return (
    <Section
      title="Data"
      {...(changes === null ? {} : { description: <Comparison changes={changes} /> })}
    >
      <ul className="rounded-lg border border-line bg-surface empty:hidden">
        {changes !== null && <ChangeLines runId={id} changes={changes} />}
        {!isShown && (
          <Line label="All of it">
            <CodeBlock code={json(data)} label="data" wrap />
          </Line>
        )}
      </ul>
    </Section>
  );
}
