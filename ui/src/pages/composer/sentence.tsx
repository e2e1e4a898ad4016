import { PenLine, Sparkles } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { needText } from '#ui/format/need-words.ts';
import { exactMoney } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { Box } from '#ui/parts/page.tsx';
import type { RoutineForm } from './form.ts';

const Chips = lazy(() => import('./chips.tsx'));

export interface SentenceProps {
  readonly form: UseFormReturn<RoutineForm>;
  /** True if the form is shown below. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

/** Takes a sentence and fills the form from it. Chips show the understood parts and lead to their fields. */
export function Sentence({ form, isOpen, onOpen }: SentenceProps) {
  const [sentence, setSentence] = useState('');
  const draft = useSend('post', '/v1/routines/draft', {
    showsError: true,
    onDone: ({ definition }) => {
      for (const [name, value] of Object.entries(filledBy(definition))) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of a definition are fields of the form
        form.setValue(name as keyof RoutineForm, value, { shouldDirty: true });
      }
      onOpen();
    },
  });
  const isShort = sentence.trim().length < 3;
  return (
    <Box className="mb-8 flex flex-col gap-3">
      <Field
        label="What should the routine do, and when?"
        description="A sentence is enough. Nothing is saved until you have seen the drafted routine."
      >
        <Textarea
          rows={isOpen ? 2 : 4}
          maxLength={4_000}
          placeholder="Every Monday at 8, check our pricing pages and say what changed"
          value={sentence}
          onChange={(event) => setSentence(event.target.value)}
        />
      </Field>
      <FormError message={draft.error?.message} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button
          kind={isOpen ? 'secondary' : 'primary'}
          icon={Sparkles}
          busy={draft.isSending}
          disabledReason={isShort ? 'Write a sentence first.' : undefined}
          onClick={() => draft.send({ body: { sentence, timezone: VIEWER_ZONE } })}
        >
          Draft it
        </Button>
        {!isOpen && (
          <Button icon={PenLine} onClick={onOpen}>
            Write it yourself
          </Button>
        )}
      </div>
      {draft.data !== undefined && (
        <div role="status" className="flex flex-col gap-3">
          <Suspense>
            <Chips form={form} />
          </Suspense>
          <Understood draft={draft.data} />
        </div>
      )}
    </Box>
  );
}

/**
 * Returns the fields that a draft fills. Without a model in the draft, the form keeps its own model. Without a schedule
 * in the draft, the field is emptied and a person has to choose one, because the sentence did not mean the form's
 * schedule.
 */
function filledBy({ schedule, model, ...others }: Shape<'DraftedDefinition'>): Partial<RoutineForm> {
  return { ...others, schedule: schedule ?? '', ...(model === null ? {} : { model }) };
}

function Understood({ draft }: { readonly draft: Shape<'RoutineDraft'> }) {
  const { questions, assumptions, missing, similar, forecast } = draft;
  const cost = forecast?.perRun.p95.costUsd ?? null;
  const facts = [
    ...questions.map((text) => ({ label: 'To answer', text })),
    ...assumptions.map((text) => ({ label: 'Assumed', text })),
    ...missing.connections.map((need) => ({ label: 'To connect', text: `A tool for ${needText(need)}` })),
    ...missing.tools.map(({ toolName, connectionName }) => ({
      label: 'To confirm',
      text: `${toolName} of ${connectionName}, once the routine is saved`,
    })),
    ...similar.map(({ name }) => ({ label: 'Similar', text: name })),
    ...(cost === null ? [] : [{ label: 'Costs', text: `Under its limits a run costs at most ${exactMoney(cost)}.` }]),
  ];
  return (
    <ul className="flex flex-col gap-1 text-sm text-muted">
      {facts.map(({ label, text }) => (
        <li key={`${label} ${text}`} className="flex gap-2">
          <span className="w-20 shrink-0 font-medium text-ink">{label}</span>
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </li>
      ))}
    </ul>
  );
}
