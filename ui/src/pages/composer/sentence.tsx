import { Sparkles } from 'lucide-react';
import { useState } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { Box } from '#ui/parts/page.tsx';
import type { RoutineForm } from './form.ts';

/** Takes a sentence and fills the form from it; every field can be changed below. */
export function Sentence({ form }: { readonly form: UseFormReturn<RoutineForm> }) {
  const [sentence, setSentence] = useState('');
  const draft = useSend('post', '/v1/routines/draft', {
    showsError: true,
    onDone: ({ definition }) => {
      for (const [name, value] of Object.entries(filledBy(definition))) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of a definition are fields of the form
        form.setValue(name as keyof RoutineForm, value, { shouldDirty: true });
      }
    },
  });
  const isShort = sentence.trim().length < 3;
  return (
    <Box className="mb-8 flex flex-col gap-3">
      <Field
        label="What should it do, and when?"
        description="A sentence is enough. It fills the form below; nothing is saved."
      >
        <Textarea
          rows={2}
          maxLength={4_000}
          placeholder="Every Monday at 8, check our pricing pages and say what changed"
          value={sentence}
          onChange={(event) => setSentence(event.target.value)}
        />
      </Field>
      <FormError message={draft.error?.message} />
      <div>
        <Button
          icon={Sparkles}
          busy={draft.isSending}
          disabledReason={isShort ? 'Write a sentence first.' : undefined}
          onClick={() => draft.send({ body: { sentence, timezone: VIEWER_ZONE } })}
        >
          Draft it
        </Button>
      </div>
      {draft.data !== undefined && <Understood draft={draft.data} />}
    </Box>
  );
}

/** Returns the fields that a draft fills; the schedule stays as it is where the draft has to ask for it. */
function filledBy({ schedule, ...others }: Shape<'DraftedDefinition'>): Partial<RoutineForm> {
  return { ...others, ...(schedule === null ? {} : { schedule }) };
}

function Understood({ draft: { questions, assumptions, missing, similar } }: { draft: Shape<'RoutineDraft'> }) {
  const facts = [
    ...questions.map((text) => ({ label: 'To answer', text })),
    ...assumptions.map((text) => ({ label: 'Assumed', text })),
    ...missing.connections.map((need) => ({ label: 'To connect', text: `A tool for ${need.replaceAll('-', ' ')}` })),
    ...missing.tools.map(({ toolName, connectionName }) => ({
      label: 'To confirm',
      text: `${toolName} of ${connectionName}, once it is saved`,
    })),
    ...similar.map(({ name }) => ({ label: 'Similar', text: name })),
  ];
  return (
    <ul role="status" className="flex flex-col gap-1 text-sm text-muted">
      {facts.map(({ label, text }) => (
        <li key={`${label} ${text}`} className="flex gap-2">
          <span className="w-20 shrink-0 font-medium text-ink">{label}</span>
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </li>
      ))}
    </ul>
  );
}
