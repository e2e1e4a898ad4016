import { useState } from 'react';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { sentence } from '#ui/format/capitalized.ts';
import { useProjectId } from '#ui/api/project.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

interface TimeWordsProps {
  readonly timezone: string;
  readonly onRead: (schedule: string) => void;
}

/**
 * Reads words of time into the schedule, such as "weekdays at 7", once the person leaves the field or presses Enter.
 */
export function TimeWords({ timezone, onRead }: TimeWordsProps) {
  const projectId = useProjectId();
  const [fault, setFault] = useState<string>();
  const read = async (words: string) => {
    setFault(undefined);
    if (words.trim() === '') return;
    try {
      const { data } = await call('get', '/v1/schedules/preview', { query: { words, timezone } }, { projectId });
      onRead(data.schedule);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setFault(sentence(error.faults[0]?.message ?? error.message));
    }
  };
  return (
    <Field label="In words" optional error={fault} className="max-w-96">
      <Input
        placeholder="Weekdays at 7, or on the first of the month at 9"
        maxLength={200}
        onBlur={({ target }) => void read(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          void read(event.currentTarget.value);
        }}
      />
    </Field>
  );
}
