import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';

export interface DeleteProjectProps {
  readonly project: Shape<'Project'> | undefined;
  readonly onClose: () => void;
}

export function DeleteProject({ project, onClose }: DeleteProjectProps) {
  const openId = useProjectId();
  const close = () => {
    remove.reset();
    onClose();
  };
  const remove = useSend('delete', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: ({ name }) => `${name} was deleted`,
    showsError: true,
    onDone: ({ id }) => {
      // A new document where the open project is the one that is gone.
      if (id === openId) location.assign('/');
      else close();
    },
  });
  if (project === undefined) return null;
  const { id, name } = project;
  return (
    <ConfirmByNameDialog
      open
      onClose={close}
      title={`Delete ${name}?`}
      description="Its routines, runs, connections and API keys are out of reach at once; runs under way are cancelled. Pause its active routines first. This cannot be undone."
      action="Delete project"
      name={name}
      busy={remove.isSending}
      error={errorInWords(remove.error)}
      onConfirm={() => remove.send({ path: { projectId: id }, query: { confirm: name } })}
    />
  );
}
