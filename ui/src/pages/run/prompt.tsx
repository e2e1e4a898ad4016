import type { Shape } from '#ui/api/types.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Section } from '#ui/parts/page.tsx';
import { count } from '#ui/format/numbers.ts';
import { Fold } from '#ui/parts/fold.tsx';

/** Shows what the model was given: the rendered prompt, and the briefing that changes with every run. */
export function Prompt({ run }: { readonly run: Shape<'RunDetail'> }) {
  const texts = [
    { label: 'Prompt', note: 'instructions and skills, rendered', text: run.prompt },
    { label: 'Briefing', note: 'date, trigger, tools, limits, last result', text: run.briefing },
  ];
  const given = texts.flatMap(({ text, ...rest }) => (text === null ? [] : [{ ...rest, text }]));
  if (given.length === 0) return null;
  return (
    <Section title="What the model was given">
      <ul className="rounded-lg border border-line bg-surface">
        {given.map(({ label, note, text }) => (
          <li key={label} className="border-b border-line last:border-b-0">
            <Fold
              summary={
                <span className="flex min-w-0 grow items-baseline gap-2">
                  <span className="text-sm font-medium text-ink">{label}</span>
                  <span className="truncate text-sm text-muted">{note}</span>
                  <span className="ml-auto shrink-0 text-xs text-faint tabular max-sm:hidden">
                    {count(text.length)} characters
                  </span>
                </span>
              }
            >
              <CodeBlock code={text} label={label.toLowerCase()} wrap />
            </Fold>
          </li>
        ))}
      </ul>
    </Section>
  );
}
