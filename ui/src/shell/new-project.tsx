import { useForm, useWatch } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { useProjects } from './projects.ts';

export interface NewProjectProps {
  readonly onClose: () => void;
  readonly onCreated: (projectId: string) => void;
}

/** Makes a project in one of the organizations in which this person may make projects. */
export default function NewProjectDialog({ onClose, onCreated }: NewProjectProps) {
  const { groups, organization } = useProjects();
  const form = useForm({ values: { name: '', organizationId: organization?.id ?? '' } });
  const create = useSend('post', '/v1/projects', {
    refreshes: ['/v1/projects'],
    done: 'Project created',
    showsError: true,
  });
  const { errors } = form.formState;
  const organizationId = useWatch({ control: form.control, name: 'organizationId' });
  const allowed = groups.filter(({ organization: { role } }) => role !== 'member');
  const submit = async (body: { name: string; organizationId: string }) => {
    const { id } = await create.sendAsync({ body });
    form.reset();
    onClose();
    onCreated(id);
  };
  return (
    <FormDialog
      onClose={onClose}
      title="New project"
      description="Routines, runs, connections and API keys belong to one project."
      form={form}
      onSubmit={submit}
      action="Create project"
    >
      <Field label="Name" error={errors.name?.message}>
        <Input {...form.register('name')} placeholder="Website" />
      </Field>
      {allowed.length > 1 && (
        <Field label="Organization" error={errors.organizationId?.message}>
          <Select
            options={allowed.map((group) => ({
              value: group.organization.id,
              label: group.organization.name,
            }))}
            value={organizationId}
            onChange={(id) => form.setValue('organizationId', id)}
          />
        </Field>
      )}
    </FormDialog>
  );
}
