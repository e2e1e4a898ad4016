import { ThumbsDown, ThumbsUp } from 'lucide-react';
import { useState } from 'react';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { errorInWords } from '#ui/api/form.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { Time } from '#ui/parts/time.tsx';

/** Asks whether a result was useful, and why. The composer shows the answer next to the instructions. */
export function Opinion({ run }: { readonly run: Shape<'RunDetail'> }) {
  const { verdict } = run;
  const [note, setNote] = useState<string>();
  const give = useSend('put', '/v1/runs/{runId}/verdict', {
    refreshes: ['/v1/runs'],
    showsError: true,
  });
  const send = (useful: boolean, words: string) =>
    give.send({ path: { runId: run.id }, body: { useful, note: words.trim() === '' ? null : words } });
  const chosen = give.sent?.body.useful ?? verdict?.useful;
  const isChosen = (useful: boolean) => chosen === useful;
  const choose = (useful: boolean) => {
    // Send a new verdict without the old note, which gives the reason of the old verdict, perhaps by another reader.
    if (!isChosen(useful)) send(useful, '');
    setNote(isChosen(useful) ? (verdict?.note ?? '') : '');
  };
  return (
    <section aria-label="Was it useful?" className="mt-4 print:hidden">
      <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
        Was it useful?
        <Button
          size="sm"
          icon={ThumbsUp}
          aria-pressed={isChosen(true)}
          kind={isChosen(true) ? 'primary' : 'secondary'}
          onClick={() => choose(true)}
        >
          Useful
        </Button>
        <Button
          size="sm"
          icon={ThumbsDown}
          aria-pressed={isChosen(false)}
          kind={isChosen(false) ? 'primary' : 'secondary'}
          onClick={() => choose(false)}
        >
          Not useful
        </Button>
        {verdict !== null && (
          <span>
            by {verdict.by?.name ?? 'a person or key that is gone'}, <Time at={verdict.at} as="relative" />
          </span>
        )}
        {verdict?.note != null && note === undefined && (
          <Button size="sm" kind="quiet" onClick={() => setNote(verdict.note ?? '')}>
            Change the note
          </Button>
        )}
      </div>
      {verdict?.note != null && note === undefined && <p className="mt-1 text-sm text-ink">{drawn(verdict.note)}</p>}
      {verdict !== null && note !== undefined && (
        <form
          className="mt-2 flex max-w-xl flex-col items-start gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            send(verdict.useful, note);
            setNote(undefined);
          }}
        >
          <Field label="Because" description="This note is shown to people who edit the instructions of this routine.">
            <Textarea rows={2} maxLength={1_000} value={note} onChange={({ target }) => setNote(target.value)} />
          </Field>
          <Button size="sm" type="submit" busy={give.isSending}>
            Save the note
          </Button>
        </form>
      )}
      {give.error !== null && <FormError message={errorInWords(give.error)} />}
    </section>
  );
}
