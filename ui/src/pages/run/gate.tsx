import type { Shape } from '#ui/api/types.ts';
import { count } from '#ui/format/numbers.ts';
import { humanize } from '#ui/format/run-words.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Time } from '#ui/parts/time.tsx';

type GateVerdict = NonNullable<Shape<'GateVerdict'>>;

/** Shows what the gate saw before the model was called, and why it woke the model or did not. */
export function Gate({ gate }: { readonly gate: GateVerdict | null }) {
  if (gate === null) return null;
  const { asked, valuePreview, valueLength } = gate;
  return (
    <section className="mt-6" aria-labelledby="gate">
      <h2 id="gate" className="mb-2 text-sm font-semibold text-ink">
        Gate
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
          <CodeBlock code={valuePreview} label="value that the gate saw" wrap maxHeight="sm" />
          {valueLength !== null && valueLength > valuePreview.length && (
            <p className="mt-1 text-xs text-faint">
              The beginning of {count(valueLength)} characters
            </p>
          )}
        </div>
      )}
    </section>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  first: 'There was nothing to compare with yet, so the model was woken.',
  changed: 'It saw a change, so the model was woken.',
  not_empty: 'It saw something, so the model was woken.',
  manual: 'A user started this run, so the model was woken in any case.',
  quiet_too_long: 'The model had not been woken for long enough, so it was.',
  unchanged: 'It saw no change, so the model was not woken.',
  empty: 'It saw nothing, so the model was not woken.',
};

const FAILURES: Readonly<Record<string, string>> = {
  unreachable: 'The address could not be reached',
  status: 'The address did not respond with a success',
  tool_refused: 'The call of the tool was not allowed',
  tool_failed: 'The call of the tool failed',
  too_slow: 'There was no response in time',
  too_large: 'The response was too large',
  not_json: 'The response is not JSON, so no part of it could be looked at',
  pointer_missing: 'A part that it looks at is not in the response',
};

function wordsOf({ failed, reason }: GateVerdict): string {
  if (!failed) return WORDS[reason] ?? `${humanize(reason)}.`;
  return `${FAILURES[reason] ?? humanize(reason)}, so the model was woken to be safe.`;
}
