import { useFormContext, useWatch } from 'react-hook-form';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { Field } from '#ui/parts/field.tsx';
import { People, RECIPIENTS, recipientsOf } from '#ui/parts/mail.tsx';
import { Select } from '#ui/parts/select.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import type { RoutineForm } from './form.ts';
import { FieldOf, useMessageAt } from './value-field.tsx';

const NO_ONE = { value: 'none', label: 'No mail: results wait on Home and in digests' } as const;

/** Edits the recipients of the routine's results: people by mail, and rooms of chats. */
export function Readers() {
  const { setValue } = useFormContext<RoutineForm>();
  const { organization } = useProjects();
  const { mail, chats } = useWatch<RoutineForm, 'resultsTo'>({ name: 'resultsTo' });
  const changeMail = (to: typeof mail) => setValue('resultsTo.mail', to, { shouldDirty: true });
  return (
    <>
      <Field label="By mail" className="max-w-80" error={useMessageAt('resultsTo.mail')}>
        <Select
          options={[NO_ONE, ...RECIPIENTS]}
          value={mail === null ? 'none' : recipientsOf({ on: [], to: mail })}
          onChange={(next) => changeMail(next === 'none' ? null : next === 'people' ? [] : next)}
        />
      </Field>
      {mail !== null && typeof mail !== 'string' && (
        <div className="grid gap-2 sm:grid-cols-2">
          <People organizationId={organization?.id} chosen={mail} onChange={changeMail} />
        </div>
      )}
      <Chats chosen={chats} />
      {(mail !== null || chats.length > 0) && <FieldOf name="resultsTo.when" />}
    </>
  );
}

function Chats({ chosen }: { readonly chosen: readonly string[] }) {
  const { setValue } = useFormContext<RoutineForm>();
  const projectId = useProjectId();
  const chats = useRead('/v1/chats', {});
  const change = (ids: string[]) => setValue('resultsTo.chats', ids, { shouldDirty: true });
  return (
    <div className="grid gap-2 sm:grid-cols-2">
      {chats.data?.map(({ id, name, host, goneAt }) => (
        <Checkbox
          key={id}
          label={name}
          description={goneAt === null ? host : 'The chat refuses this address'}
          checked={chosen.includes(id)}
          onChange={(on) => change(on ? [...chosen, id] : chosen.filter((each) => each !== id))}
        />
      ))}
      <p className="text-sm">
        <TextLink to="/p/$projectId/settings" params={{ projectId }} search={{ tab: 'notifications' }}>
          Add a chat
        </TextLink>
      </p>
    </div>
  );
}
