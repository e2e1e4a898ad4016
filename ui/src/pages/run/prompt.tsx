import type { Shape } from '#ui/api/types.ts';
import { Section } from '#ui/parts/page.tsx';
import { TextFold } from '#ui/parts/text-fold.tsx';

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
            <TextFold label={label} note={note} text={text} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
